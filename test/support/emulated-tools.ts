import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { openCatalogue, readRecorded } from '../../scripts/catalogue-requests.ts';

/** The hosts that each service of the package `emulate` emulates; null for a service that no connector uses. */
export const EMULATED_HOSTS: Record<string, RegExp | null> = {
  apple: null,
  aws: null,
  clerk: null,
  github: /^api\.github\.com$/,
  google: /\.googleapis\.com$/,
  linear: /^api\.linear\.app$/,
  microsoft: /^graph\.microsoft\.com$/,
  mongoatlas: /^cloud\.mongodb\.com$/,
  okta: /\.okta\.com$/,
  resend: /^api\.resend\.com$/,
  slack: /^slack\.com$/,
  stripe: /^api\.stripe\.com$/,
  twilio: /\.twilio\.com$/,
  vercel: /^api\.vercel\.com$/,
};

const FOLDER = dirname(fileURLToPath(import.meta.resolve('emulate')));

/** Returns the routes of each service of `emulate`, as its code declares them: the method and a pattern of the path. */
export function emulatedRoutes(): Map<string, { method: string; path: RegExp }[]> {
  const registry = readFileSync(join(FOLDER, 'api.js'), 'utf8');
  const services = registry.matchAll(
    /^ {2}(\w+): \{\n {4}label: "[^"]*emulator"[\s\S]*?import\("\.\/([\w-]+\.js)"\)/gm,
  );
  return new Map(
    [...services].map(([, service, file]) => {
      const code = readFileSync(join(FOLDER, file as string), 'utf8');
      const routes = code.matchAll(/\bapp\.(get|post|put|patch|delete)\(\s*"([^"]+)"/g);
      const entries = [...routes].map(([, method = '', path = '']) => ({
        method: method.toUpperCase(),
        path: patternOf(path),
      }));
      return [service as string, entries];
    }),
  );
}

/** A segment `:name` is any text without a slash, and `:name{pattern}` is a text of that pattern. */
function patternOf(path: string): RegExp {
  const parts = path.split(/(:\w+(?:\{[^}]*\})?)/).map((part) => {
    const [, pattern] = /^:\w+(?:\{([^}]*)\})?$/.exec(part) ?? [];
    if (part.startsWith(':')) return pattern ?? '[^/]+';
    return RegExp.escape(part);
  });
  return new RegExp(`^${parts.join('')}$`);
}

/** Returns the tools of each connector for whose first recorded request an emulator has a route. */
export function knownTools(): Map<string, string[]> {
  const services = emulatedRoutes();
  const known = new Map<string, string[]>();
  for (const [connector, text] of readRecorded()) {
    for (const entry of text.trimEnd().split('\n\n')) {
      const [tool = '', line = ''] = entry.split('\n');
      const [method, address = ''] = line.split(' ');
      const { host, pathname } = new URL(address);
      const isKnown = [...services].some(
        ([service, routes]) =>
          EMULATED_HOSTS[service]?.test(host) &&
          routes.some((route) => route.method === method && route.path.test(decodeURIComponent(pathname))),
      );
      if (isKnown) known.set(connector, [...(known.get(connector) ?? []), tool.slice(connector.length + 1)]);
    }
  }
  return known;
}

/** Returns the tools of a GraphQL connector whose queries match the emulator's schema. `query` sends it a query. */
export async function knownDocuments(
  connector: string,
  query: (document: string) => Promise<{ errors?: { message: string; path?: unknown }[] }>,
): Promise<string[]> {
  const catalogue = openCatalogue();
  const known: string[] = [];
  for (const name of catalogue.toolNames(connector)) {
    const value = catalogue.peek(name)?.request.body?.value as { query: string };
    const { errors = [] } = await query(value.query);
    // Errors of the schema have no path. Missing variables are only reported for a query that matches the schema.
    if (errors.every(({ message, path }) => path || message.startsWith('Variable ')))
      known.push(name.slice(connector.length + 1));
  }
  return known;
}

/**
 * Expects that each tool that the connector's emulator supports has run or has an excuse with a reason, and that no
 * other tool has an excuse.
 */
export function expectAllRun(
  connector: string,
  ran: Set<string>,
  excuses: Record<string, string> = {},
  known = knownTools().get(connector) ?? [],
): void {
  expect(known, `tools of ${connector} that are known`).not.to.deep.equal([]);
  const forgotten = known.filter((tool) => !ran.has(tool) && !excuses[tool]);
  expect(forgotten, 'neither run nor excused').to.deep.equal([]);
  const needless = Object.keys(excuses).filter((tool) => ran.has(tool) || !known.includes(tool));
  expect(needless, 'excused without need').to.deep.equal([]);
}
