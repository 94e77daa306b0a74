import { parseArgs } from 'node:util';
import { readCatalogueFiles, type ToolFile } from '../catalogue-files.ts';
import { compareTool } from './compare.ts';
import { openDocument } from './document.ts';
import { plantMistakes } from './mutations.ts';
import { readSources, type Source, stampOf } from './source.ts';
import { checkStamp, type StampedDocument } from './stamps.ts';
import { writeStamp } from './write-stamp.ts';

const { values } = parseArgs({
  options: {
    connector: { type: 'string' },
    /** Another list of descriptions, for those that are not packages. */
    sources: { type: 'string', default: 'catalogue/vendors.yaml' },
    planted: { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
    /** Writes which description each tool was compared with, on this date, into the files of tools that agree. */
    stamp: { type: 'string' },
  },
});
const sources = await readSources(values.sources);
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
  rows.set(connector, await compareConnector(files, sources.get(connector) ?? []));
}

async function compareConnector(files: ToolFile[], described: Source[]): Promise<Row> {
  const row = { tools: files.length, compared: 0, agreed: 0, reviewed: 0, differs: 0 };
  if (described.length === 0) return row;
  const documents: StampedDocument[] = [];
  for (const source of described) documents.push({ stamp: await stampOf(source), vendor: await openDocument(source) });
  for (const { file, data } of files) {
    const stamped = checkStamp(data, documents);
    const { vendor } = stamped;
    const found = vendor && compareTool(data, vendor);
    if (values.stamp !== undefined && stamped.problem !== undefined && stamped.right !== undefined) {
      await writeStamp(file, stamped.right, values.stamp);
      continue;
    }
    if (stamped.problem !== undefined) console.log(`${file}: ${stamped.problem}`);
    if (vendor === undefined || found === undefined) {
      if (values.verbose) console.log(`${file}: not comparable`);
      if (stamped.problem !== undefined) row.differs += 1;
      continue;
    }
    const accepted = data.compared?.differs ?? {};
    const open = found.filter((finding) => !Object.hasOwn(accepted, finding));
    const stale = Object.keys(accepted).filter((finding) => !found.includes(finding));
    const isWrong = open.length + stale.length > 0 || stamped.problem !== undefined;
    row.compared += 1;
    row[isWrong ? 'differs' : found.length > 0 ? 'reviewed' : 'agreed'] += 1;
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
