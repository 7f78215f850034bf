import type { ComponentChildren, JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { KEYS } from './keys';
import { allLooks } from '../model/kinds';
import { SEARCH_WORDS } from '../model/searchWords';

/** What the keys do and what the signs mean. */
export function Help({ close }: { close: () => void }): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog
      class="help"
      ref={dialog}
      aria-label="Signs, search and keys of the timeline"
      onClose={close}
      onClick={(event) => event.target === dialog.current && close()}
    >
      <div class="help-head">
        <h2>Signs</h2>
        <button class="tool-button" aria-label="Close" title="Close (Escape)" onClick={close}>
          <span class="codicon codicon-close" aria-hidden="true" />
        </button>
      </div>
      <ul class="legend">
        {allLooks()
          .filter((look) => look.kind !== 'other')
          .map((look) => (
            <li>
              <span class={`codicon codicon-${look.icon} kind-${look.kind}`} aria-hidden="true" /> {look.kind}
            </li>
          ))}
      </ul>
      <table class="facts signs">
        <tbody>
          <Sign what="held: a breakpoint stopped the call for this long">
            <span class="hatched" role="img" aria-label="Hatched" />
          </Sign>
          <Sign what="error: the call ended with one">
            <span class="error-sign" role="img" aria-label="Red with an exclamation mark">
              !
            </span>
          </Sign>
          <Sign what="edited: a value of the call was changed while it was held">
            <span class="codicon codicon-edit edited-text" role="img" aria-label="Pencil" />
          </Sign>
          <Sign what="held now">
            <span class="codicon codicon-debug-pause edited-text" role="img" aria-label="Pause sign" />
          </Sign>
          <Sign what="interrupted: waits for an answer">
            <span class="codicon codicon-question edited-text" role="img" aria-label="Question mark" />
          </Sign>
          <Sign what="skipped, cancelled">
            <span class="codicon codicon-debug-step-over" role="img" aria-label="Arrow" />{' '}
            <span class="codicon codicon-circle-slash" role="img" aria-label="Crossed circle" />
          </Sign>
          <Sign what="an event outside of calls: output, a log message, a stop of a program; red: a crash">
            <span class="codicon codicon-milestone kind-event" role="img" aria-label="Signpost" />
          </Sign>
          <Sign what="faded: not what is searched or filtered for">
            <span class="faded" role="img" aria-label="Pale" />
          </Sign>
        </tbody>
      </table>
      <h2>Search</h2>
      <p>A part of a name, words of an event, or these, alone or together:</p>
      <table class="facts">
        <tbody>
          {SEARCH_WORDS.map(({ word, what }) => (
            <tr>
              <th scope="row">
                <code>{word}</code>
              </th>
              <td>{what}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <h2>Keys</h2>
      <table class="facts">
        <tbody>
          {KEYS.map(({ keys, what }) => (
            <tr>
              <th scope="row">{keys}</th>
              <td>{what}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </dialog>
  );
}

function Sign({ what, children }: { what: string; children: ComponentChildren }): JSX.Element {
  return (
    <tr>
      <th scope="row">{children}</th>
      <td>{what}</td>
    </tr>
  );
}
