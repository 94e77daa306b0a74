import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCatalogue } from '../../core/connectors/catalogue.ts';
import { readCatalogueIndex } from '../../core/connectors/catalogue-index.ts';
import { createToolDirectory } from '../../core/discovery/directory.ts';
import type { Tool } from '../../core/tools/tool.ts';
import { openStore } from '../../db/open-store.ts';
import { environmentId } from '../../db/store.ts';
import { percentile } from './statistics.ts';

/**
 * Measures how long a search takes among many tools, and the cost of the index. It uses the catalogue's tools, and
 * copies of them under other names as an environment's own tools, up to the given number.
 *
 * node --expose-gc scripts/bench/search.ts [tools]
 */
const wanted = Number(process.argv[2] ?? 20_000);
const INDEX = new URL('../../generated/catalogue.json', import.meta.url);
const ROUNDS = 20;

const catalogue = createCatalogue(readCatalogueIndex(readFileSync(INDEX, 'utf8')));
const folder = mkdtempSync(join(tmpdir(), 'valetkey-search-'));
const store = await openStore({ location: join(folder, 'search.db'), now: Date.now });
try {
  const env = environmentId(`env_${'0'.repeat(26)}`);
  await store.write((tx) =>
    tx.environments.insert({
      id: env,
      kind: 'DEVELOPMENT',
      baseUrl: 'http://localhost',
      settings: {},
      createdAt: 0,
      hosts: ['localhost'],
    }),
  );
  const built = catalogue.toolNames().flatMap((name) => catalogue.peek(name) ?? []);
  for (let made = built.length; made < wanted; made += 1000) {
    const tools = Array.from({ length: Math.min(1000, wanted - made) }, (_, place) => twin(built, made + place));
    await store.write((tx) =>
      tx.environmentTools.upsert(
        env,
        tools.map((tool) => ({
          name: tool.name,
          connector: tool.connector,
          source: 'import' as const,
          sourceId: tool.name,
          definition: tool,
          at: 0,
        })),
      ),
    );
  }

  const directory = createToolDirectory(catalogue);
  const search = (query: string) => directory.search(store.read, env, query);
  gc();
  const before = process.memoryUsage();
  const [, first] = await timed(() => search('warm up'));
  gc();
  const after = process.memoryUsage();
  for (const query of questions(built)) await search(query);
  const times: number[] = [];
  const cpu: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    for (const query of questions(built)) {
      const start = process.threadCpuUsage();
      times.push((await timed(() => search(query)))[1]);
      const { user, system } = process.threadCpuUsage(start);
      cpu.push((user + system) / 1000);
    }
  }
  const [one] = built as [Tool];
  await store.write((tx) =>
    tx.environmentTools.upsert(env, [
      { name: 'z_one', connector: 'z', source: 'custom', sourceId: null, definition: { ...one, name: 'z_one' }, at: 1 },
    ]),
  );
  const [, changed] = await timed(() => search('warm up'));
  const sorted = Float64Array.from(times).sort();
  const busy = Float64Array.from(cpu).sort();
  const ms = (value: number) => `${value.toFixed(1)} ms`;
  const mb = (bytes: number) => `${(bytes / 2 ** 20).toFixed(0)} MB`;
  console.log(
    [
      `${wanted} tools, ${times.length} searches`,
      `p50 ${ms(percentile(sorted, 0.5))}, p99 ${ms(percentile(sorted, 0.99))}, longest ${ms(sorted.at(-1) ?? 0)}`,
      `of these, processor time of the thread: p50 ${ms(percentile(busy, 0.5))}, p99 ${ms(percentile(busy, 0.99))}`,
      `first search, which builds the index: ${ms(first)}; the first after one tool has changed: ${ms(changed)}`,
      `the index adds ${mb(after.heapUsed - before.heapUsed)} of heap, the building of it ${mb(after.rss - before.rss)} of resident memory`,
    ].join('\n'),
  );
} finally {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
}

/**
 * Returns sixty queries: actions of tools with their application, and the first sentences of descriptions, which are
 * longer than users' queries.
 */
function questions(tools: readonly Tool[]): string[] {
  const chosen = Array.from({ length: 30 }, (_, at) => tools[Math.floor((at * tools.length) / 30)] as Tool);
  return chosen.flatMap(({ title, connector, description }) => [
    `${title} in ${connector.replaceAll('_', ' ')}`,
    description.split('. ')[0] as string,
  ]);
}

function twin(tools: readonly Tool[], number: number): Tool {
  const tool = tools[number % tools.length] as Tool;
  const connector = `custom-${number % 97}`;
  return { ...tool, connector, name: `${tool.name.slice(0, 54)}_${number}`, generic: false };
}

async function timed<T>(run: () => Promise<T>): Promise<[T, number]> {
  const start = performance.now();
  const result = await run();
  return [result, performance.now() - start];
}

function gc(): void {
  (globalThis as { gc?: () => void }).gc?.();
}
