import type { ComponentChildren, JSX } from 'preact';
import type { Page } from '../data/page';

/** What there is to say instead of lanes; nothing when there are lanes. */
export function Empty({ page }: { page: Page }): JSX.Element | null {
  if (!page.runsKnown) return null;
  if (page.file === undefined && !page.problem) {
    return (
      <Said icon="debug-alt" head="No run yet">
        Press F5 on an agent. Its calls appear here while it runs.
      </Said>
    );
  }
  if (page.problem && !page.overview?.lanes.length) {
    return (
      <Said icon="warning" head="This run cannot be shown">
        {page.problem}
      </Said>
    );
  }
  if (!page.overview && !page.starting) return null;
  if (page.overview && page.overview.lanes.length > 0) return null;
  return page.starting || page.live ? (
    <Said icon="pulse" head="No calls yet">
      The run has started. Its workflows, nodes and tools appear here as they are called.
    </Said>
  ) : (
    <Said icon="pulse" head="No calls in this run">
      The app ended without a workflow, node or tool being called. Functions are recorded when they have a breakpoint,
      or when "record" in launch.json names them.
    </Said>
  );
}

function Said({ icon, head, children }: { icon: string; head: string; children: ComponentChildren }): JSX.Element {
  return (
    <div class="empty">
      <span class={`codicon codicon-${icon}`} aria-hidden="true" />
      <h2>{head}</h2>
      <p>{children}</p>
    </div>
  );
}
