import { mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import type { FieldView } from '../web/connect/fields.ts';
import { fragmentPage } from '../web/connect/fragment-page.ts';
import { type LinkView, linkPage } from '../web/connect/link-page.ts';
import {
  connectedPage,
  expiredPage,
  faultPage,
  refusedPage,
  staleFormPage,
  strayPage,
  usedPage,
  waitingPage,
} from '../web/connect/message-pages.ts';
import type { Html } from '../web/html.ts';

const ROOT = join(import.meta.dirname, '..');
const FOLDER = join(ROOT, 'docs/screens');
const WIDTHS = [360, 1280];

const CONSENT: LinkView = {
  asker: 'Widgets Ltd',
  provider: 'GitHub',
  formTitle: 'GitHub account',
  help: '',
  identifier: 'ada@widgets.example',
  address: '',
  completion: 'consent',
  scopes: [
    { name: 'Profile', description: 'Read the profile of the signed-in user.' },
    {
      name: 'Repositories',
      description: 'Read and write code, issues and pull requests of public and private repositories.',
    },
  ],
  fields: [],
  formToken: '',
};

const text = (over: Partial<FieldView>): FieldView => ({
  name: 'field',
  label: 'Field',
  kind: 'text',
  options: [],
  hint: '',
  required: true,
  value: '',
  problem: '',
  ...over,
});

const FORM: LinkView = {
  ...CONSENT,
  provider: 'Acme Desk',
  formTitle: 'API key',
  help: 'Make a key in Acme Desk under Settings, Integrations.',
  completion: 'form',
  scopes: [],
  fields: [
    text({ name: 'domain', label: 'Sub-domain', hint: 'The first part of the address that you sign in at.' }),
    text({ name: 'api_key', label: 'API key', kind: 'password' }),
    text({ name: 'region', label: 'Region', kind: 'select', options: ['eu', 'us'], required: false }),
  ],
};

const PROBLEMS: LinkView = {
  ...FORM,
  fields: FORM.fields.map((field) => {
    if (field.name === 'domain') return { ...field, value: 'Not A Label', problem: 'must be one host label' };
    return field.name === 'api_key' ? { ...field, problem: 'is required' } : field;
  }),
};

const PAGES: Record<string, Html> = {
  start: linkPage(CONSENT),
  form: linkPage(FORM),
  'form-with-problems': linkPage(PROBLEMS),
  fragment: fragmentPage('Acme Boards'),
  'fragment-with-problem': fragmentPage('Acme Boards', 'is required'),
  waiting: waitingPage(),
  connected: connectedPage(),
  expired: expiredPage(),
  used: usedPage(),
  refused: refusedPage('GitHub', '/connect/x'),
  fault: faultPage('req_01k6p3x9d8q2v7m4n5t0r1s6wz', '/connect/x'),
  stray: strayPage(),
  'stale-form': staleFormPage(),
};

/** Takes a screenshot of every page of a link, at the widths of a phone and of a desktop. */
async function main(): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  const css = readFileSync(join(ROOT, 'web/assets/connect.css'));
  const server = createServer((req, res) => {
    const page = PAGES[req.url?.slice(1) ?? ''];
    if (page) res.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(String(page));
    else res.writeHead(200, { 'content-type': 'text/css' }).end(css);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu'],
  });
  const shoot = async (name: string, width: number, colorScheme: 'light' | 'dark') => {
    const page = await browser.newPage({ viewport: { width, height: 640 }, colorScheme });
    await page.goto(`${origin}/${name}`);
    const suffix = colorScheme === 'dark' ? '-dark' : '';
    await page.screenshot({ path: join(FOLDER, `connect-${name}-${width}${suffix}.png`), fullPage: true });
    await page.close();
  };
  for (const name of Object.keys(PAGES)) for (const width of WIDTHS) await shoot(name, width, 'light');
  for (const name of ['start', 'form-with-problems']) await shoot(name, WIDTHS[0] as number, 'dark');
  await browser.close();
  server.close();
  console.log(`docs/screens: ${Object.keys(PAGES).length} pages`);
}

await main();
