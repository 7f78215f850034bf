/**
 * The page's one door to the outside. In VS Code messages go through the webview API; in a browser they go to a function the embedder
 * put on the window as `toolbreakHost`, or to the embedding page. Answers and notifications always arrive as `message` events.
 * No other file knows where the page runs.
 */

interface WebviewApi {
  postMessage(message: unknown): void;
  getState(): unknown;
  setState(state: unknown): void;
}

declare global {
  var acquireVsCodeApi: (() => WebviewApi) | undefined;
  var toolbreakHost: ((message: unknown) => unknown) | undefined;
}

export interface Host {
  post(message: unknown): void;
  /** Calls back with each message until the page goes away. */
  listen(receive: (message: unknown) => void): void;
  /** What the page remembered last time it was shown, as it was given. */
  recall(): unknown;
  remember(state: unknown): void;
}

export function connectHost(): Host {
  return typeof acquireVsCodeApi === 'function' ? inVsCode(acquireVsCodeApi()) : inBrowser();
}

function inVsCode(api: WebviewApi): Host {
  return {
    post: (message) => api.postMessage(message),
    listen,
    recall: () => api.getState(),
    remember: (state) => api.setState(state),
  };
}

function inBrowser(): Host {
  let memory: unknown;
  return {
    post: (message) => {
      if (typeof globalThis.toolbreakHost === 'function') globalThis.toolbreakHost(message);
      else if (window.parent !== window) window.parent.postMessage(message, window.location.origin);
    },
    listen: (receive) =>
      listen((message, event) => {
        if (event.origin === window.location.origin) receive(message);
      }),
    recall: () => memory,
    remember: (state) => {
      memory = state;
    },
  };
}

function listen(receive: (message: unknown, event: MessageEvent<unknown>) => void): void {
  window.addEventListener('message', (event: MessageEvent<unknown>) => receive(event.data, event));
}
