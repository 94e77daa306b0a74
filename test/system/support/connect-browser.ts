import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { chromium } from 'playwright-core';
import { verifyUser } from '../../support/links.ts';
import type { TestServer } from '../../support/server.ts';

const CHROMIUM = '/usr/bin/chromium';
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'];
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/**
 * How long an action waits for its element. The limit only detects a hang: a loaded machine takes long to show a page.
 */
export const PATIENCE_MS = 300_000;

export const PHONE = { width: 320, height: 640 };
export const DESK = { width: 1440, height: 900 };

/** A page with all errors since its browser was opened, and every address that was requested. */
export interface Watched {
  page: Page;
  complaints: string[];
  requested: string[];
  /** The hosts of those addresses, without repetition. */
  hosts(): string[];
}

/** @param hosts names with their loopback ports; all other names cannot be resolved */
export function launch(hosts: Readonly<Record<string, number>>): Promise<Browser> {
  const maps = Object.entries(hosts).map(([name, port]) => `MAP ${name}:443 127.0.0.1:${port}`);
  const rules = [...maps, 'MAP * ~NOTFOUND', 'EXCLUDE 127.0.0.1', 'EXCLUDE localhost'].join(', ');
  return chromium.launch({ executablePath: CHROMIUM, args: [...FLAGS, `--host-resolver-rules=${rules}`] });
}

export async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<Watched> {
  const context = await browser.newContext({ viewport: DESK, ignoreHTTPSErrors: true, ...options });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const [complaints, requested]: [string[], string[]] = [[], []];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('requestfailed', (request) => {
    // The browser aborts the unfinished requests of a page that is left early.
    if (request.failure()?.errorText !== 'net::ERR_ABORTED') complaints.push(`${request.url()} failed`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400) complaints.push(`${response.status()} ${response.url()}`);
  });
  page.on('request', (request) => requested.push(request.url()));
  return { page, complaints, requested, hosts: () => [...new Set(requested.map((url) => new URL(url).host))] };
}

/** Waits for the end of all transitions, which mix colors. Animations without an end are ignored. */
const SETTLED = `Promise.allSettled(
  document.getAnimations().filter(({ effect }) => effect?.getComputedTiming().endTime < Infinity).map(({ finished }) => finished)
)`;

/** Returns the ids of the rules that a page violates when its transitions have ended. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(`${SETTLED}.then(() => {})`);
  await page.evaluate(AXE);
  const found = (await page.evaluate('axe.run()')) as { violations: { id: string }[] };
  return found.violations.map(({ id }) => id);
}

export async function focused(page: Page): Promise<string> {
  return (await page.evaluate('document.activeElement.id')) as string;
}

/**
 * An application that verifies its users.
 *
 * @param userOf returns the identifier of the user who arrives, as a session would; by default the state
 */
export async function startVerifyingApp(
  serverOf: () => TestServer,
  userOf: (state: string) => string = (state) => state,
): Promise<{ url: string; stop(): void }> {
  const verifyArrival = async (target: string): Promise<string> => {
    const query = new URL(target, 'http://localhost').searchParams;
    const answer = await verifyUser(serverOf(), query.get('auth_request_id') ?? '', userOf(query.get('state') ?? ''));
    return answer.body.post_user_verify_redirect_url ?? '/refused';
  };
  const app = createServer(
    (req, res) => void verifyArrival(req.url ?? '/').then((to) => res.writeHead(302, { location: to }).end()),
  );
  await new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(app.address() as AddressInfo).port}/verify`, stop: () => app.close() };
}
