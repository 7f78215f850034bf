import { render } from 'preact';
import { Client } from './data/client';
import { Page } from './data/page';
import { connectHost } from './host';
import { App } from './view/app';
import './view/timeline.css';
import './view/lanes.css';
import './view/detail.css';
import './view/compare.css';

const root = document.getElementById('root');
if (!root) throw new Error('The timeline needs an element with the id "root".');
const host = connectHost();
const page = new Page(new Client(host));
// What the lanes' canvas will have, so that calls can be asked for before it is laid out; the style sheet says the same of the names beside it.
page.width = Math.max(1, window.innerWidth - Math.min(200, Math.max(90, window.innerWidth * 0.18)));
// To draw an empty page takes as long as to draw the run, so that is done only where the run is not there in a moment.
const late = setTimeout(draw, 100);
const stop = page.onState(() => {
  if (page.overview || page.problem !== undefined || page.runsKnown) draw();
});
void page.begin();

function draw(): void {
  clearTimeout(late);
  stop();
  render(<App page={page} host={host} />, root!);
}
