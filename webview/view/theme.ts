import { allLooks } from '../model/kinds';

/** Colours and fonts of the current theme, resolved for the canvas. */
export interface Theme {
  background: string;
  foreground: string;
  muted: string;
  line: string;
  error: string;
  errorText: string;
  warning: string;
  focus: string;
  match: string;
  range: string;
  frame: string;
  contrast: boolean;
  /** Fill, edge and text of a bar by kind. */
  kinds: Map<string, { fill: string; edge: string }>;
  /** One character of the icon font by icon name. */
  icons: Map<string, string>;
  font: string;
  smallFont: string;
  iconFont: string;
}

const ICONS = ['error', 'edit', 'debug-pause', 'circle-slash', 'debug-step-over', 'question'];

let known: Theme | undefined;
// Whoever draws hears of a change after this.
onThemeChange(() => (known = undefined));

/** The theme of the document. To read it costs a style computation, so it is done once, and again when the theme has changed. */
export function readTheme(): Theme {
  return (known ??= themeNow());
}

function themeNow(): Theme {
  const probe = document.createElement('span');
  probe.className = 'probe';
  document.body.append(probe);
  try {
    const colour = (...tokens: string[]): Rgba => {
      const chain = tokens.reduceRight((rest, token) => `var(--${token}${rest === '' ? '' : `, ${rest}`})`, '');
      probe.style.color = '';
      probe.style.color = chain;
      return parse(getComputedStyle(probe).color);
    };
    const background = colour('vscode-panel-background', 'vscode-editor-background');
    const foreground = colour('vscode-foreground', 'vscode-editor-foreground');
    const contrast =
      document.body.classList.contains('vscode-high-contrast') ||
      document.body.classList.contains('vscode-high-contrast-light');
    const muted = contrast ? foreground : colour('vscode-descriptionForeground', 'vscode-foreground');
    const error = colour('vscode-charts-red', 'vscode-errorForeground');
    const kinds = new Map(
      allLooks().map((look) => {
        // Some themes have colours of charts that are half transparent, for areas: a thin bar would not be seen.
        const base = { ...colour(look.colour, 'vscode-foreground'), a: 1 };
        return [look.kind, { fill: css(mix(background, base, contrast ? 0.12 : 0.3)), edge: css(base) }];
      }),
    );
    const style = getComputedStyle(document.body);
    const size = Number.parseFloat(style.fontSize) || 13;
    return {
      background: css(background),
      foreground: css(foreground),
      muted: css(muted),
      line: css(contrast ? colour('vscode-contrastBorder', 'vscode-foreground') : mix(background, foreground, 0.12)),
      error: css(mix(background, error, contrast ? 0.2 : 0.32)),
      errorText: css(error),
      warning: css(colour('vscode-charts-yellow', 'vscode-editorWarning-foreground')),
      focus: css(colour('vscode-focusBorder', 'vscode-foreground')),
      match: css(colour('vscode-editor-findMatchBorder', 'vscode-foreground', 'vscode-editor-foreground')),
      range: css({ ...colour('vscode-focusBorder', 'vscode-foreground'), a: 0.15 }),
      frame: css({ ...mix(background, foreground, 0.5), a: 0.14 }),
      contrast,
      kinds,
      icons: readIcons(probe),
      font: `${Math.min(12, size - 1)}px ${style.fontFamily}`,
      smallFont: `${Math.min(11, size - 2)}px ${style.fontFamily}`,
      iconFont: '13px codicon',
    };
  } finally {
    probe.remove();
  }
}

/** The stylesheet of the icon font knows which character an icon is. */
function readIcons(probe: HTMLElement): Map<string, string> {
  const icons = new Map<string, string>();
  for (const icon of [...allLooks().map((look) => look.icon), ...ICONS]) {
    probe.className = `probe codicon codicon-${icon}`;
    const content = getComputedStyle(probe, '::before').content;
    icons.set(icon, content.replace(/^["']|["']$/g, ''));
  }
  return icons;
}

/** Calls back when the theme changes: VS Code then changes the classes of the body and the tokens on the root. */
export function onThemeChange(changed: () => void): () => void {
  const observer = new MutationObserver(changed);
  observer.observe(document.body, { attributes: true, attributeFilter: ['class', 'data-vscode-theme-id'] });
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ['style', 'class'] });
  return () => observer.disconnect();
}

interface Rgba {
  r: number;
  g: number;
  b: number;
  a: number;
}

function parse(colour: string): Rgba {
  const [r = 128, g = 128, b = 128, a = 1] = (colour.match(/[\d.]+/g) ?? []).map(Number);
  return { r, g, b, a };
}

function mix(under: Rgba, over: Rgba, share: number): Rgba {
  const part = share * over.a;
  const one = (a: number, b: number) => Math.round(a * (1 - part) + b * part);
  return { r: one(under.r, over.r), g: one(under.g, over.g), b: one(under.b, over.b), a: 1 };
}

function css({ r, g, b, a }: Rgba): string {
  return `rgba(${r}, ${g}, ${b}, ${a})`;
}
