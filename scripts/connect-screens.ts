import { mkdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { readCatalogueIndex } from '../core/connectors/catalogue-index.ts';
import { markImage } from '../core/connectors/mark.ts';
import type { Connector } from '../core/connectors/provider.ts';
import { accentStyles } from '../web/connect/accent.ts';
import type { BrandView } from '../web/connect/context.ts';
import { type LanguageTag, textsOf } from '../web/languages/texts.ts';
import { CONNECT_PAGES } from './screens/connect-pages.ts';
import { takePicture } from './screens/picture.ts';
import { PORTAL_PAGES } from './screens/portal-pages.ts';
import { takeSandbox } from './screens/sandbox.ts';

const ROOT = join(import.meta.dirname, '..');
const FOLDER = join(ROOT, 'docs/screens');
const ACCENT = '#0b6e4f';

const BRAND: BrandView = {
  application: 'Contoso',
  logoUrl: '/logo.svg',
  accentUrl: '/accent.css',
  supportUrl: 'https://contoso.example/help',
  privacyUrl: 'https://contoso.example/privacy',
  termsUrl: 'https://contoso.example/terms',
  homeUrl: 'https://app.contoso.example',
};

const LOGO = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path fill="${ACCENT}" d="M16 2 30 16 16 30 2 16Zm0 8-6 6 6 6 6-6Z"/></svg>`;

/** A picture of a page in one combination of language, width and color scheme. */
interface Shot {
  name: string;
  language: LanguageTag;
  width: number;
  scheme: 'light' | 'dark';
}

const KEPT: Shot[] = [
  ...Object.keys(CONNECT_PAGES).map((name): Shot => ({ name, language: 'en', width: 320, scheme: 'light' })),
  ...(['de', 'ar', 'ja'] as const).map((language): Shot => ({ name: 'start', language, width: 768, scheme: 'light' })),
  { name: 'form-with-problems', language: 'ar', width: 768, scheme: 'dark' },
  { name: 'start', language: 'en', width: 1440, scheme: 'light' },
  ...Object.keys(PORTAL_PAGES).map((name): Shot => ({ name, language: 'en', width: 320, scheme: 'light' })),
  { name: 'portal', language: 'de', width: 768, scheme: 'light' },
  { name: 'portal', language: 'ar', width: 768, scheme: 'dark' },
  { name: 'portal', language: 'en', width: 1440, scheme: 'light' },
];

function everyShot(): Shot[] {
  const shots: Shot[] = [];
  for (const name of Object.keys({ ...CONNECT_PAGES, ...PORTAL_PAGES }))
    for (const language of ['en', 'de', 'ja', 'ar'] as const)
      for (const width of [320, 768, 1440])
        for (const scheme of ['light', 'dark'] as const) shots.push({ name, language, width, scheme });
  return shots;
}

function iconOf(file: string): string {
  const { connectors } = readCatalogueIndex(readFileSync(join(ROOT, 'generated/catalogue.json'), 'utf8'));
  const { identifier, display_name: name, mark } = connectors[file.replace('.svg', '')] as Connector;
  return mark ? markImage(identifier, name, mark).svg : '';
}

function serve(req: IncomingMessage, res: ServerResponse): void {
  const [, first = '', second = ''] = (req.url ?? '').split('?')[0]?.split('/') ?? [];
  const page = CONNECT_PAGES[second] ?? PORTAL_PAGES[second];
  const send = (type: string, body: string | Buffer) => res.writeHead(200, { 'content-type': type }).end(body);
  if (page) {
    send('text/html; charset=utf-8', String(page({ texts: textsOf(first as LanguageTag), brand: BRAND })));
  } else if (first === 'logo.svg') send('image/svg+xml', LOGO);
  else if (first === 'icons') send('image/svg+xml', iconOf(second));
  else if (first === 'accent.css') send('text/css', accentStyles(ACCENT));
  else if (/^\/connect\/assets\/(read|write|delete)\.svg$/.test(req.url ?? '')) {
    send('image/svg+xml', readFileSync(join(ROOT, 'web/assets', `scope-${req.url?.split('/').at(-1)}`)));
  } else if (req.url === '/connect/assets/form.js') {
    send('text/javascript', readFileSync(join(ROOT, 'web/assets/connect-form.js')));
  } else if (/^\/connect\/assets\/(connect|portal)\.css$/.test(req.url ?? '')) {
    send('text/css', readFileSync(join(ROOT, 'web/assets', `${req.url?.split('/').at(-1)}`)));
  } else res.writeHead(404).end();
}

async function shoot(browser: Browser, origin: string, folder: string, shot: Shot): Promise<void> {
  const { name, language, width, scheme } = shot;
  const page = await browser.newPage({ viewport: { width, height: 640 }, colorScheme: scheme });
  await page.goto(`${origin}/${language}/${name}`);
  const parts = [
    ...(name in PORTAL_PAGES ? [] : ['connect']),
    name,
    ...(language === 'en' ? [] : [language]),
    String(width),
  ];
  const path = join(folder, `${[...parts, ...(scheme === 'dark' ? ['dark'] : [])].join('-')}.webp`);
  await takePicture(page, path);
  await page.close();
}

/**
 * Takes the pictures of link pages and portal pages that are in docs/screens. With `--all <folder>`, it takes every
 * page in every combination into that folder instead.
 */
async function main([option, folder = '']: string[]): Promise<void> {
  const isAll = option === '--all' && folder !== '';
  const target = isAll ? folder : FOLDER;
  mkdirSync(target, { recursive: true });
  const server = createServer(serve);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const args = ['--no-sandbox', '--disable-gpu'];
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args });
  const shots = isAll ? everyShot() : KEPT;
  for (const shot of shots) await shoot(browser, origin, target, shot);
  if (!isAll) await takeSandbox(browser, join(target, 'sandbox.webp'));
  await browser.close();
  server.close();
  console.log(`${target}: ${shots.length} pictures`);
}

await main(process.argv.slice(2));
