import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { errorMeaning, messageTitle, unmergedText, type CallDetail, type Change } from '../../protocol/timeline';
import { withCommas } from '../../protocol/withCommas';
import type { Page } from '../data/page';
import { endOf } from '../model/bars';
import { lookOf } from '../model/kinds';
import { formatClock, formatDuration, formatMoment } from '../model/time';
import { counted, heldTime } from '../model/words';
import { openSource } from './actions';
import { CompareTree } from './compare';
import { ValueTree } from './tree';

interface Props {
  page: Page;
  detail: CallDetail;
}

const SIGNS: Record<Change['change'], string> = { added: '+', removed: '-', changed: '~' };

/** What the call got; where that was edited while it was held, beside what it was given. */
export function InputTab({ page, detail }: Props): JSX.Element {
  const { input, inputBefore } = detail;
  return (
    <>
      {inputBefore && (
        <CompareTree
          page={page}
          label="Edited while held"
          before={inputBefore}
          after={input}
          titles={['As it was called', 'Edited']}
        />
      )}
      {input && <ValueTree page={page} handle={input} label="Input" root="argument" />}
    </>
  );
}

export function StateTab({ page, detail }: Props): JSX.Element {
  const { changes, moreChanges, unrecorded, stateBefore, stateAfter, unmerged } = detail;
  const beside = page.sideBySide && stateBefore !== undefined && stateAfter !== undefined;
  const choices = (
    <span class="choices" role="group" aria-label="How changes are shown">
      <Choice label="List" chosen={!beside} choose={() => page.update({ sideBySide: false })} />
      <Choice label="Side by Side" chosen={beside} choose={() => page.update({ sideBySide: true })} />
    </span>
  );
  return (
    <>
      {unmerged?.map((key) => (
        <p class="unmerged" key={key}>
          {unmergedText(key)}.
        </p>
      ))}
      {beside ? (
        <CompareTree page={page} label="Changes" before={stateBefore} after={stateAfter} actions={choices} />
      ) : (
        changes && (
          <ChangeList changes={changes} more={moreChanges === true} unrecorded={unrecorded} choices={choices} />
        )
      )}
      {stateBefore && <ValueTree page={page} handle={stateBefore} label="State before" root="stateBefore" />}
      {stateAfter && <ValueTree page={page} handle={stateAfter} label="State after" root="stateAfter" />}
    </>
  );
}

function Choice({ label, chosen, choose }: { label: string; chosen: boolean; choose: () => void }): JSX.Element {
  return (
    <button class="choice" aria-pressed={chosen} onClick={choose}>
      {label}
    </button>
  );
}

interface ListedChanges {
  changes: readonly Change[];
  /** There are others, which are not listed. */
  more: boolean;
  unrecorded: string | undefined;
  choices: JSX.Element;
}

function ChangeList({ changes, more, unrecorded, choices }: ListedChanges): JSX.Element {
  const all = counted(changes.length, 'change');
  return (
    <section class="value">
      <div class="value-head">
        <span class="value-label">Changes</span>
        <span class="muted">{changes.length === 0 ? leftAsItWas(unrecorded) : more ? `More than ${all}` : all}</span>
        <span class="spring" />
        {choices}
      </div>
      <ul class="changes">
        {changes.map((change) => (
          <li class={`change ${change.change}`}>
            <span class="sign" aria-label={change.change}>
              {SIGNS[change.change]}
            </span>
            <span class="value-name">{change.path}</span>
            {change.before !== undefined && <span class="before">{change.before}</span>}
            {change.before !== undefined && change.after !== undefined && <span class="muted">→</span>}
            {change.after !== undefined && <span class="after">{change.after}</span>}
          </li>
        ))}
        {more && <li class="muted">Further changes are shown side by side.</li>}
      </ul>
    </section>
  );
}

function leftAsItWas(unrecorded: string | undefined): string {
  if (unrecorded === undefined) return 'This call left the state as it was.';
  return `What was recorded of the state is the same before and after this call. ${unrecorded}`.trimEnd();
}

export function MessagesTab({ detail }: { detail: CallDetail }): JSX.Element {
  return (
    <ul class="messages">
      {detail.messages?.map((message) => (
        <li>
          <span
            class={`role role-${/^(human|user)$/.test(message.role) ? 'human' : /^(ai|assistant)$/.test(message.role) ? 'ai' : 'other'}`}
          >
            {messageTitle(message)}:
          </span>
          <span class="message-text">{message.text}</span>
        </li>
      ))}
    </ul>
  );
}

export function ErrorTab({ page, detail }: Props): JSX.Element | null {
  const { error } = detail;
  if (!error) return null;
  return (
    <>
      <Raised page={page} error={error} />
      {error.causes?.map((cause) => (
        <>
          <div class="error-way">{cause.way === 'context' ? 'While handling' : 'Caused by'}</div>
          <Raised page={page} error={cause} />
        </>
      ))}
      {error.moreCauses !== undefined && (
        <div class="error-way">and {withCommas(error.moreCauses)} more, which the exception below contains</div>
      )}
      {error.value && <ValueTree page={page} handle={error.value} label="Exception" root="error" flat={false} />}
    </>
  );
}

function Raised({
  page,
  error: { type, message, stack },
}: {
  page: Page;
  error: Pick<NonNullable<CallDetail['error']>, 'type' | 'message' | 'stack'>;
}): JSX.Element {
  return (
    <>
      <div class="error-type">{type}</div>
      <pre class="error-message">{message === '' ? errorMeaning(type) : message}</pre>
      {stack.length > 0 && (
        <ol class="stack" aria-label="Where it was raised">
          {stack.map((frame) => (
            <li>
              <span class="frame-function">{frame.function}</span>
              <SourceLink page={page} path={frame.path} line={frame.line} />
            </li>
          ))}
        </ol>
      )}
    </>
  );
}

/** Pixels by which the last of many levels is moved in, at most. */
const DEEPEST_INDENT = 168;

/** The calls around this one, outermost first, and this one: each can be gone to. */
export function StackTab({ page, detail }: Props): JSX.Element {
  const { source, path, pathLeft } = detail;
  const indent = Math.min(14, DEEPEST_INDENT / path.length);
  const here = useRef<HTMLLIElement>(null);
  // Of many levels the call itself is what one came for, and at the end.
  useLayoutEffect(() => here.current?.scrollIntoView({ block: 'nearest' }), []);
  return (
    <ol class="stack" aria-label="Calls around this one, outermost first">
      {path.map((step, index) => {
        const isHere = step.id === detail.call.id;
        const look = lookOf(step.kind);
        return (
          <>
            {index === pathLeft?.at && (
              <li class="muted" style={{ paddingLeft: `${index * indent}px` }}>
                … {counted(pathLeft.levels, 'level')} left out …
              </li>
            )}
            <li ref={isHere ? here : undefined} style={{ paddingLeft: `${index * indent}px` }}>
              <span class={`codicon codicon-${look.icon} kind-${look.kind}`} aria-hidden="true" />
              {isHere ? (
                <span class="here" aria-current="location">
                  {step.name}
                </span>
              ) : (
                <button class="link" onClick={() => void page.chooser.selectById(step.id)}>
                  {step.name}
                </button>
              )}
              <span class="muted">{step.kind}</span>
              {isHere && source && <SourceLink page={page} path={source.path} line={source.line} />}
            </li>
          </>
        );
      })}
    </ol>
  );
}

export function SourceLink({ page, path, line }: { page: Page; path: string; line: number }): JSX.Element {
  return (
    <button class="link" title={`${path}:${line}`} onClick={() => openSource(page, path, line)}>
      {path.split(/[\\/]/).pop()}:{line}
    </button>
  );
}

export function TimingTab({ page, detail }: Props): JSX.Element {
  const { call } = detail;
  const started = page.overview?.run.startedAt ?? '';
  const now = page.now();
  // Of a short call, too, the end is told from the start.
  const span = Math.min(now, 10 * (endOf(call, now) - call.start));
  const moment = (time: number): string => formatMoment(time, now, span);
  const into = (time: number): string => `${moment(time)} into the run (${formatClock(started, time, span)})`;
  const rows: [string, string][] = [
    ['Started', into(call.start)],
    [
      'Took',
      call.end === undefined
        ? `${formatDuration(endOf(call, now) - call.start)} so far`
        : formatDuration(call.end - call.start),
    ],
  ];
  if (call.end !== undefined) rows.push(['Ended', into(call.end)]);
  if (call.holds.length > 0)
    rows.push([
      'Held',
      `${formatDuration(heldTime(call, now))}: ${call.holds.map((hold) => hold.description).join('; ')}`,
    ]);
  rows.push(['Call', call.id]);
  return (
    <>
      <Facts rows={rows} label="Times" />
      {detail.attributes.length > 0 && (
        <Facts rows={detail.attributes.map(({ name, value }) => [name, value])} label="Attributes" />
      )}
      {detail.events.length > 0 && (
        <Facts rows={detail.events.map((event) => [moment(event.time), event.text])} label="What happened" />
      )}
    </>
  );
}

export function Facts({ rows, label }: { rows: [string, string][]; label: string }): JSX.Element {
  return (
    <table class="facts" aria-label={label}>
      <tbody>
        {rows.map(([name, value]) => (
          <tr>
            <th scope="row">{name}</th>
            <td>{value}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
