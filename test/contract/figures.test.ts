import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  AUDIT,
  EVENT_STREAM,
  IMPORT,
  LIFETIME,
  LIST,
  LOGO,
  MCP_LOGIN,
  OUTBOUND,
  REQUEST_BODY,
  STORAGE,
  STORED,
  TOOL_RESULT,
  WEBHOOKS,
} from '../../core/budgets.ts';
import { LOAD_LIMITS } from '../../core/openapi-conversion/load.ts';
import { readConfig } from '../../http/config/config.ts';
import type { JsonObject } from '../../scripts/openapi-document.ts';
import { ROOT, readPage } from '../flows/markdown.ts';
import { constantOf, markedFigures, unmarkedFigures } from '../support/figures.ts';
import { contract, operation } from './contract.ts';

const PAGES = ['README.md', ...readdirSync(join(ROOT, 'docs')).map((name) => join('docs', name))].filter((path) =>
  path.endsWith('.md'),
);

/**
 * The figures of each page that are not marked, because they are not limits of the server: sizes of keys, results of
 * measurements, and limits of providers.
 */
const NOT_OURS = {
  'README.md': [],
  'docs/architecture.md': [],
  'docs/asvs.md': ['a day', '10 minutes'],
  'docs/connect.md': [],
  'docs/console.md': ['24 hours', '5 seconds'],
  'docs/errors.md': [],
  'docs/events.md': [],
  'docs/execution.md': [],
  'docs/import.md': ['64 MiB', '64 MiB', '16 MiB', '8 MiB', 'a second', '95 seconds', '7 seconds'],
  'docs/mcp.md': ['60 seconds', '24 hours'],
  // Some of these figures are the results of a measured backup and restore.
  'docs/operations.md': ['32 bytes', '2 GiB', '15 s', '10 s', 'a KiB', '180 days'],
  'docs/portal.md': [],
  'docs/security.md': ['a second', 'a minute', 'a second'],
  // The schedule of attempts and the default of `overlap_seconds` are compared below.
  'docs/webhooks.md': ['a day', '5 seconds', '5 minutes', '30 minutes', '24 hours', 'three days'],
};

interface Schemas {
  components: { schemas: Record<string, { properties: Record<string, Record<string, unknown>>; maxItems?: number }> };
}

describe('figures in the documentation', () => {
  it('are equal to core/budgets.ts where they are marked', () => {
    const figures = PAGES.flatMap((page) => markedFigures(readPage(page)).map((figure) => ({ page, ...figure })));
    expect(figures.length).to.be.above(40);
    const wrong = figures.filter(({ name, value }) => value !== constantOf(name));
    expect(wrong.map(({ page, text, name }) => `${page}: ${text} is ${constantOf(name)}`)).to.deep.equal([]);
  });

  for (const [page, others] of Object.entries(NOT_OURS)) {
    it(`are all marked in ${page}`, () => {
      const text = readPage(page).replace(/^```.*?^```$/gms, '');
      expect(unmarkedFigures(text)).to.deep.equal(others);
    });
  }

  it('are equal to the contract where clients choose within bounds', () => {
    const properties = (schema: string) =>
      (contract as unknown as Schemas).components.schemas[schema]?.properties ?? {};
    const lifetime = properties('CreateMcpSessionTokenRequest')['lifetime_seconds'];
    const silence = properties('CreateConnectionRequest')['mcp_timeout_seconds'];
    const mappings = properties('CreateMcpConfigRequest')['mappings'];
    for (const sentence of [
      `${lifetime?.minimum} seconds to ${Number(lifetime?.maximum) / 3600} hours`,
      `\`mcp_timeout_seconds\` of the connection (${silence?.minimum} to ${silence?.maximum})`,
      `at most ${mappings?.maxItems}:`,
    ]) {
      expect(readPage('docs/mcp.md')).to.include(sentence);
    }
  });

  it('are equal to the configuration', () => {
    const { config } = readConfig({});
    const defaults = {
      HOST: config.host,
      PORT: config.port,
      DATA_DIR: config.dataDir,
      VALETKEY_RATE_LIMIT: config.rateLimit,
      VALETKEY_WEBHOOK_RATE: config.webhookRate,
      VALETKEY_CONNECTIONS_PER_ADDRESS: config.connectionsPerAddress,
      LOG_LEVEL: config.logLevel,
      LOG_FORMAT: config.logFormat,
    };
    for (const page of ['README.md', 'docs/operations.md']) {
      for (const [name, value] of Object.entries(defaults)) {
        expect(readPage(page), page).to.include(`| \`${name}\` | \`${value}\` |`);
      }
    }
    const [, from, to] = readPage('docs/operations.md').match(/(\d+) to (\d+) printable ASCII/) ?? [];
    const readSecret = (length: number) => () =>
      readConfig({ VALETKEY_CLIENT_ID: 'cli', VALETKEY_CLIENT_SECRET: 'x'.repeat(length) });
    for (const length of [Number(from) - 1, Number(to) + 1]) expect(readSecret(length)).to.throw(`${from} to ${to}`);
    for (const length of [Number(from), Number(to)]) expect(readSecret(length)).not.to.throw();
  });

  it('are equal to the limits that other modules have', () => {
    const MIB_SIZE = LOAD_LIMITS.bytes / 1024 ** 2;
    expect(readPage('docs/import.md')).to.include(
      `limited to ${MIB_SIZE} MiB, ${LOAD_LIMITS.depth} levels and ${LOAD_LIMITS.aliases} aliases`,
    );
    expect(readPage('docs/import.md')).to.include(`the command takes ${MIB_SIZE} MiB`);
    const [first, second, third, ...rest] = WEBHOOKS.retryDelaysMs as readonly number[] as [number, number, number];
    const hours = (rest as number[]).map((ms) => ms / 3_600_000);
    expect(readPage('docs/webhooks.md')).to.include(
      `after ${first / 1000} seconds, ${second / 60_000} minutes, ${third / 60_000} minutes, ${hours.slice(0, -1).join(', ')} and ${hours.at(-1)} hours`,
    );
    const allHours = WEBHOOKS.retryDelaysMs.reduce((sum, ms) => sum + ms, 0) / 3_600_000;
    expect(Math.round(allHours / 24), 'which can take three days').to.equal(3);
  });

  it('agree with each other: deleted data is removed from the files after the delay and one more attempt', () => {
    expect(STORAGE.scrubDelayMs + STORAGE.scrubRetryMs).to.be.at.most(STORAGE.scrubbedMs);
  });

  it('are read with their units, and a mark without a figure of its kind is refused', () => {
    const read = (text: string) => markedFigures(text).map(({ value }) => value);
    expect(read('at most 1,024 KiB<!--A.xBytes-->, five<!--A.x--> times in an hour<!--A.xMs-->')).to.deep.equal([
      1024 * 1024,
      5,
      3_600_000,
    ]);
    expect(() => read('many<!--A.x-->')).to.throw('does not follow a figure');
    expect(() => read('5 s<!--A.xBytes-->')).to.throw('A.xBytes cannot be stated in s');
    expect(() => read('5<!--A.xMs-->')).to.throw('without a unit');
    expect(() => constantOf('REQUEST_BODY.nothing')).to.throw('has no REQUEST_BODY.nothing');
    expect(unmarkedFigures('10 s<!--A.xMs-->, then 5 MiB and 7 days')).to.deep.equal(['5 MiB', '7 days']);
  });
});

const KIB = 1024;
const MIB = 1024 * KIB;
const [SECOND, MINUTE, HOUR, DAY] = [1000, 60_000, 3_600_000, 86_400_000];

const RESTS = WEBHOOKS.retryDelaysMs;
const LONG_RESTS = RESTS.slice(3, 8)
  .map((rest) => rest / HOUR)
  .join(', ');

/** Sentences of the contract that state a figure. */
const STATED = [
  `limited to ${REQUEST_BODY.bytes / KIB} KiB and ${REQUEST_BODY.levels} levels of nesting`,
  `larger than ${REQUEST_BODY.bytes / KIB} KiB`,
  `At most ${REQUEST_BODY.tokenPairs} parameters and ${REQUEST_BODY.tokenBytes / KIB} KiB`,
  `stored responses of the client exceed ${STORED.keptRepliesBytes / MIB} MiB`,
  `stored responses of the client exceed ${STORED.idempotencyBytes / MIB} MiB`,
  `can have up to ${REQUEST_BODY.importBytes / MIB} MiB`,
  `at most ${STORED.apiConfigBytes / KIB} KiB, ${STORED.apiConfigKeys} keys and ${STORED.apiConfigLevels} levels`,
  `more than ${STORED.apiConfigBytes / KIB} KiB, ${STORED.apiConfigKeys} keys or ${STORED.apiConfigLevels} levels`,
  `up to ${TOOL_RESULT.pages} pages, ${TOOL_RESULT.pagesBytes / MIB} MiB and ${TOOL_RESULT.pagesMs / SECOND} seconds`,
  `image of at most ${LOGO.bytes / KIB} KiB. A PNG or JPEG image can have at most ${LOGO.pixels} pixels`,
  `truncated to ${TOOL_RESULT.errorBodyBytes / KIB} KiB`,
  `truncated to ${STORED.contentsPartBytes / KIB} KiB`,
  `${LIFETIME.linkMs / MINUTE} minutes`,
  `${LIFETIME.idempotencyKeyMs / HOUR} hours per client`,
  `valid for ${LIFETIME.pageTokenMs / HOUR} hours`,
  `in seconds. Default: ${LIFETIME.secretOverlapMs / SECOND} (one day)`,
  `in seconds. Default: ${LIFETIME.mcpSessionMs / SECOND} (one hour)`,
  `kept for ${LIFETIME.endedJobsMs / DAY} days`,
  `data of a failed job is deleted after ${LIFETIME.failedJobPayloadMs / DAY} days`,
  `up to ${IMPORT.timeMs / SECOND} seconds`,
  `up to ${LIST.counted.toLocaleString('en')} matches`,
  `up to ${LIST.countedBySearch.toLocaleString('en')} matches of identifiers`,
  `can have ${IMPORT.places} imports running or waiting`,
  `can have ${STORED.toolOverlays} overlays and ${STORED.toolOverlaysBytes / MIB} MiB of them`,
  `one overlay can have ${STORED.toolOverlayBytes / KIB} KiB`,
  `A page with schemas ends after ${LIST.toolsBytes / MIB} MiB of tools`,
  `Results with schemas end after ${LIST.toolsBytes / MIB} MiB of tools`,
  `Counts are stored for ${LIFETIME.statisticsMs / DAY} days`,
  `Events are deleted after ${LIFETIME.eventsMs / DAY} days`,
  `Deliveries are deleted after ${LIFETIME.eventsMs / DAY} days`,
  `a status from 200 to 299 within ${OUTBOUND.protocolTimeoutMs / SECOND} seconds`,
  `has ${WEBHOOKS.endpoints} endpoints already`,
  `The stream ends after ${EVENT_STREAM.longestMs / MINUTE} minutes`,
  `${EVENT_STREAM.perEnvironment} streams are open`,
  `has ${STORED.tools.toLocaleString('en')} own, imported and discovered tools already`,
  `more than ${STORED.tools.toLocaleString('en')} own, imported and discovered tools`,
  `reached its limit: ${STORED.connections.toLocaleString('en')} connections, with settings of ${STORED.connectionsBytes / MIB} MiB`,
  `can have ${STORED.apiClients.toLocaleString('en')} API clients that are enabled`,
  `keeps ${STORED.disabledApiClients.toLocaleString('en')} disabled clients`,
  `reached its limit: ${STORED.mcpConfigs.toLocaleString('en')} configs, with mappings of ${STORED.mcpConfigsBytes / MIB} MiB`,
  `has ${STORED.mcpClients.toLocaleString('en')} clients that administrators have created`,
  `${MCP_LOGIN.usedClients.toLocaleString('en')} clients that registered themselves and were used`,
  `granted access to all of the ${MCP_LOGIN.usedClients.toLocaleString('en')}`,
  `${AUDIT.readers} requests already export or verify the audit log`,
  `deleted after ${LIFETIME.eventsMs / DAY} days`,
  `after about ${RESTS[0] / SECOND} seconds, ${RESTS[1] / MINUTE} minutes, ${RESTS[2] / MINUTE} minutes, ${LONG_RESTS} and ${RESTS[8] / HOUR} hours`,
];

/**
 * Figures of the contract that are not limits of the server: values that a request may choose, or that a command
 * accepts.
 */
const NOT_LIMITS = [
  'documents of up to 64 MiB',
  'for 60 seconds to 24 hours',
  'then 32 bytes in base64',
  'then the 32 bytes of the key',
];

describe('figures in the contract', () => {
  const text = [...descriptionsIn(contract)].join('\n').replace(/\s+/g, ' ');

  it('are equal to core/budgets.ts', () => {
    expect(STATED.filter((sentence) => !text.includes(sentence))).to.deep.equal([]);
    const limits = operation('importTools').definition['x-valetkey-max-body-bytes'];
    expect(limits).to.equal(REQUEST_BODY.importBytes);
    const form = operation('issueToken').definition['x-valetkey-max-body-bytes'];
    expect(form).to.equal(REQUEST_BODY.tokenBytes);
  });

  it('are all compared with core/budgets.ts', () => {
    const rest = [...STATED, ...NOT_LIMITS].reduce((left, sentence) => left.replaceAll(sentence, ''), text);
    const figures = rest.match(/.{0,40}\b\d[\d,]* (?:[KM]iB|bytes|seconds|minutes|hours|days|levels)\b/g) ?? [];
    expect(figures).to.deep.equal([]);
  });
});

function* descriptionsIn(node: unknown): Generator<string> {
  if (Array.isArray(node)) for (const item of node) yield* descriptionsIn(item);
  if (typeof node !== 'object' || node === null) return;
  for (const [key, value] of Object.entries(node as JsonObject)) {
    if (key === 'examples' || key === 'example') continue;
    if (key === 'description' && typeof value === 'string') yield value;
    else yield* descriptionsIn(value);
  }
}
