import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';

/** Folder the page may load from. */
export function pageRoot(extension: vscode.Uri): vscode.Uri {
  return vscode.Uri.joinPath(extension, 'dist', 'webview');
}

/** The timeline's document: one script and one style sheet of our own, nothing from anywhere else. */
export function pageHtml(webview: vscode.Webview, extension: vscode.Uri): string {
  const nonce = randomBytes(18).toString('base64url');
  const address = (name: string) => webview.asWebviewUri(vscode.Uri.joinPath(pageRoot(extension), name)).toString();
  const policy = [
    `default-src 'none'`,
    `script-src 'nonce-${nonce}'`,
    // Positions of calls are set as element styles by the page's script, which the policy for style sheets does not touch.
    `style-src ${webview.cspSource}`,
    `font-src ${webview.cspSource}`,
    `img-src ${webview.cspSource}`,
  ].join('; ');
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${address('codicon.css')}">
<link rel="stylesheet" href="${address('timeline.css')}">
<title>Toolbreak Timeline</title>
</head>
<body>
<div id="root"></div>
<script nonce="${nonce}" src="${address('timeline.js')}"></script>
</body>
</html>`;
}
