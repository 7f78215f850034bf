import type { CallRow } from '../../protocol/timeline';
import type { Page } from './page';

/** Two calls beside each other: one is selected for it, then the other is compared with it. */
export class Comparing {
  constructor(private readonly page: Page) {}

  /** The call that others are compared with from now on. */
  choose(call: CallRow): void {
    this.page.update({ compared: call });
    this.page.tell(`${call.name} is selected for comparing`);
  }

  /** Shows a call beside the one that was selected. */
  with(call: CallRow): void {
    const { page } = this;
    if (!page.compared || page.compared.id === call.id) {
      page.tell('Select another call for comparing first');
      return;
    }
    page.tab = 'Compare';
    if (page.selection?.call.id === call.id) page.update({ detailOpen: true });
    else page.chooser.select(call);
  }

  drop(): void {
    this.page.update({ compared: undefined, tab: undefined, announcement: 'Comparing has ended' });
  }
}
