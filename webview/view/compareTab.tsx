import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { CallDetail, CallRow, ValueHandle } from '../../protocol/timeline';
import type { Page } from '../data/page';
import { sentence } from '../data/sentence';
import { endOf } from '../model/bars';
import { stateWord } from '../model/kinds';
import { formatDuration, formatMoment } from '../model/time';
import { CompareTree } from './compare';

const PARTS: readonly { label: string; of: (detail: CallDetail) => ValueHandle | undefined }[] = [
  { label: 'Input', of: ({ input }) => input },
  { label: 'Output', of: ({ output }) => output },
  { label: 'Error', of: ({ error }) => error?.value },
  { label: 'State before', of: ({ stateBefore }) => stateBefore },
  { label: 'State after', of: ({ stateAfter }) => stateAfter },
];

/** The call that was selected for comparing, beside this one. */
export function CompareTab({ page, detail }: { page: Page; detail: CallDetail }): JSX.Element | null {
  const { compared } = page;
  const { first, problem } = useFirst(page, compared);
  if (!compared) return null;
  if (problem) return <div class="error-line">{problem}</div>;
  if (!first) return null;
  const titles = [titleOf(page, first.call), titleOf(page, detail.call)] as const;
  return (
    <>
      <div class="value-head">
        <span class="muted">
          {titles[0]} was selected for comparing. Its values are on the left, those of the selected call on the right.
        </span>
        <span class="spring" />
        <button class="text-button" onClick={() => void page.chooser.selectById(compared.id)}>
          Go to {compared.name}
        </button>
        <button class="text-button" onClick={() => page.comparing.drop()}>
          Stop Comparing
        </button>
      </div>
      <table class="facts compare-facts" aria-label="Facts of both calls">
        <tbody>
          {factsOf(page, first.call, detail.call).map(([name, one, other]) => (
            <tr>
              <th scope="row">{name}</th>
              <td>{one}</td>
              <td>{other}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {PARTS.map(({ label, of }) => {
        const [before, after] = [of(first), of(detail)];
        return before || after ? (
          <CompareTree key={label} page={page} label={label} before={before} after={after} titles={titles} />
        ) : null;
      })}
    </>
  );
}

function titleOf(page: Page, call: CallRow): string {
  return `${call.name} at ${formatMoment(call.start, page.now())}`;
}

function factsOf(page: Page, one: CallRow, other: CallRow): [string, string, string][] {
  const both = (name: string, of: (call: CallRow) => string): [string, string, string] => [name, of(one), of(other)];
  return [both('State', stateWord), both('Took', (call) => formatDuration(endOf(call, page.now()) - call.start))];
}

/** The facts of the call on the left; read again when a call that was running has gone on. */
function useFirst(page: Page, call: CallRow | undefined): { first?: CallDetail; problem?: string } {
  const [state, setState] = useState<{ first?: CallDetail; problem?: string }>({});
  const runs = state.first?.call.id === call?.id && state.first?.call.end === undefined;
  useEffect(() => {
    const { file } = page;
    if (file === undefined || !call) return;
    let current = true;
    page.ask('call', { file, id: call.id }).then(
      (first) => current && setState({ first }),
      (error: unknown) => current && setState({ problem: sentence(error) }),
    );
    return () => {
      current = false;
    };
  }, [page.file, call?.id, runs ? page.overview : undefined]);
  return state.first && state.first.call.id !== call?.id ? {} : state;
}
