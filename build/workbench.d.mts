export interface Workbench {
  node: string;
  entry: string;
}
export interface Server {
  url: string;
  port: number;
  password: string | undefined;
  pid: number;
  log: () => string;
  stop: () => Promise<void>;
}
export function install(say?: (line: string) => void): Workbench;
export function start(options: {
  workbench: Workbench;
  home: string;
  forTests?: boolean;
  settings?: Record<string, unknown>;
  trust?: boolean;
  cancelled?: AbortSignal;
}): Promise<Server>;
export function pageAddress(options: {
  url: string;
  port: number;
  folder: string;
  extension?: string;
  tests?: string;
  environment?: Record<string, string>;
}): string;
export const QUIET_SETTINGS: Record<string, unknown>;
