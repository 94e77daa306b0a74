import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';
import { readCatalogueFiles, type ToolFile } from '../catalogue-files.ts';
import { compareTool } from './compare.ts';
import { openDocument, type Source } from './document.ts';
import { plantMistakes } from './mutations.ts';

const ROOT = new URL('../../', import.meta.url);
const { values } = parseArgs({
  options: {
    connector: { type: 'string' },
    /** Another list of descriptions, for those that are not packages. */
    sources: { type: 'string', default: 'catalogue/vendors.yaml' },
    planted: { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
  },
});
const sources = parse(await readFile(new URL(values.sources, ROOT), 'utf8')) as Record<string, Source>;
const { tools } = await readCatalogueFiles();
const byConnector = Map.groupBy(tools, ({ connector }) => connector);

interface Row {
  tools: number;
  compared: number;
  agreed: number;
  reviewed: number;
  differs: number;
}
const rows = new Map<string, Row>();
let planted = 0;
let noticed = 0;

for (const [connector, files] of byConnector) {
  if (values.connector !== undefined && values.connector !== connector) continue;
  rows.set(connector, await compareConnector(files, sources[connector]));
}

async function compareConnector(files: ToolFile[], source: Source | undefined): Promise<Row> {
  const row = { tools: files.length, compared: 0, agreed: 0, reviewed: 0, differs: 0 };
  if (source === undefined) return row;
  const vendor = await openDocument(new URL('.catalogue/vendors/', ROOT), source);
  for (const { file, data } of files) {
    const found = compareTool(data, vendor);
    if (found === undefined) {
      if (values.verbose) console.log(`${file}: not comparable`);
      continue;
    }
    const accepted = data.compared?.differs ?? {};
    const open = found.filter((finding) => !Object.hasOwn(accepted, finding));
    const stale = Object.keys(accepted).filter((finding) => !found.includes(finding));
    row.compared += 1;
    row[open.length + stale.length > 0 ? 'differs' : found.length > 0 ? 'reviewed' : 'agreed'] += 1;
    for (const finding of open) console.log(`${file}: ${finding}`);
    for (const finding of stale) console.log(`${file}: no longer differs: ${finding}`);
    if (values.planted) {
      const result = plantMistakes(data, vendor, found);
      planted += result.planted;
      noticed += result.noticed;
      for (const missed of values.verbose ? result.missed : []) console.log(`${file}: missed: ${missed}`);
    }
  }
  return row;
}

console.table(Object.fromEntries(rows));
const differing = [...rows.values()].reduce((sum, { differs }) => sum + differs, 0);
if (values.planted) console.log(`${noticed} of ${planted} planted mistakes were noticed`);
if (differing > 0 || noticed < planted * 0.95) process.exitCode = 1;
