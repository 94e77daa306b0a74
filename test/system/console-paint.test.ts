import { expect } from 'chai';
import { createAccount } from '../support/accounts.ts';
import { addCalls } from './support/console-data.ts';
import { type ConsoleWorld, startConsoleWorld } from './support/console-world.ts';

/** The maximum number of bytes of compressed scripts before Home is painted. */
const MAX_SCRIPT_BYTES = 300_000;
/**
 * The maximum number of requests before Home is painted: for the page, its script and styles, the session, and data.
 */
const MAX_REQUESTS = 24;

interface Painted {
  /** When the first text was painted, and when Home showed its figures, in milliseconds since the navigation. */
  paintMs: number;
  shownMs: number;
  requests: { name: string; startMs: number; bytes: number; isScript: boolean }[];
}

/** Reads what the browser has measured. Sizes are those of the bodies as they were sent. */
const MEASURED = `(() => {
  const [page] = performance.getEntriesByType('navigation');
  const requests = [page, ...performance.getEntriesByType('resource')].map((entry) => ({
    name: new URL(entry.name).pathname,
    startMs: entry.startTime,
    bytes: entry.encodedBodySize,
    isScript: entry.name.endsWith('.js'),
  }));
  const paint = performance.getEntriesByName('first-contentful-paint')[0];
  return { paintMs: paint.startTime, shownMs: performance.now(), requests };
})()`;

describe('the first paint of the console', () => {
  let world: ConsoleWorld;

  before(async () => {
    world = await startConsoleWorld();
    const { id } = await createAccount(world.server);
    await addCalls(world.server, id, 400);
  });
  after(() => world.stop());

  it('needs few requests and little script, from a cold cache', async () => {
    const { page } = await world.logIn();
    const devTools = await page.context().newCDPSession(page);
    await devTools.send('Network.clearBrowserCache');
    await devTools.send('Performance.enable', { timeDomain: 'threadTicks' });
    await page.goto(`${world.server.origin}/console/`);
    await page.getByText('Tool calls').waitFor();
    const painted = (await page.evaluate(MEASURED)) as Painted;
    const { metrics } = await devTools.send('Performance.getMetrics');
    const cpuMs = Math.round((metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0) * 1000);
    const scripts = painted.requests.filter(({ isScript }) => isScript);
    const scriptBytes = scripts.reduce((sum, { bytes }) => sum + bytes, 0);
    const before = painted.requests.filter(({ startMs }) => startMs < painted.paintMs);
    // Times are only printed, because they depend on other work on the machine.
    console.log(
      `      first paint after ${Math.round(painted.paintMs)} ms and ${before.length} requests; Home after ${Math.round(painted.shownMs)} ms, ` +
        `${painted.requests.length} requests, ${Math.round(scriptBytes / 1000)} KB of script, ${cpuMs} ms of CPU time in the page`,
    );
    const list = JSON.stringify(painted.requests, null, 1);
    expect(scripts.length, list).to.be.at.least(2);
    for (const { name, bytes } of scripts) expect(bytes, `${name} comes from the network`).to.be.above(0);
    expect(scriptBytes, list).to.be.below(MAX_SCRIPT_BYTES);
    expect(painted.requests.length, list).to.be.at.most(MAX_REQUESTS);
    await page.context().close();
  });
});
