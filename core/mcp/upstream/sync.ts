import type { EnvironmentId, EnvironmentToolRow, NewEnvironmentTool, Transaction } from '../../../db/store.ts';
import { STORED } from '../../budgets.ts';
import { deleteTools } from '../../connections/delete-tools.ts';
import type { Catalogue } from '../../connectors/catalogue.ts';
import { toolSpace } from '../../discovery/tool-space.ts';
import { inBatches } from '../../scheduling/in-batches.ts';
import type { Tool } from '../../tools/tool.ts';
import { allLeftOut, type Candidates, type LeftOut } from './convert-page.ts';
import { upstreamToolName } from './to-tool.ts';

export interface StoreDeps {
  catalogue: Catalogue;
  now(): number;
}

/**
 * The result of storing a server's list. Tools are named by their stored names, except those in `leftOut`, which have
 * the server's names.
 */
export interface SyncReport {
  /** The number of tools that the provider has now. */
  tools: number;
  added: string[];
  /** Tools that differ from their stored definition. They cannot be called until an operator accepts the change. */
  flagged: string[];
  /** Tools that differed and were accepted. */
  accepted: string[];
  removed: string[];
  /** Tools with schemas that Valetkey had to change to use them, and these changes. */
  adapted: { tool: string; changes: string[] }[];
  leftOut: LeftOut[];
}

const CHANGED = 'The MCP server has changed this tool since its definition was stored.';

/**
 * Stores the tools that an MCP server lists as the tools of its provider. A new tool is stored with the hash of its
 * definition, by which later changes are noticed. A changed tool keeps the old definition and is flagged, so that no
 * unreviewed text reaches a model (threat P6). Tools that the server no longer lists are deleted. New tools beyond the
 * environment's limit are left out. The work is done in batches, so that other work can run in between.
 *
 * @param accept accepts the changes instead of flagging them
 */
export async function storeUpstreamTools(
  tx: Transaction,
  { catalogue, now }: StoreDeps,
  environmentId: EnvironmentId,
  connector: string,
  candidates: Candidates,
  accept: boolean,
): Promise<SyncReport> {
  const rows = (await tx.environmentTools.listByConnector(environmentId, connector)).filter(isOurs);
  const pinned = new Map(rows.map((row) => [row.sourceId, row]));
  const taken = new Set(await tx.environmentTools.names(environmentId));
  const report: SyncReport = {
    tools: 0,
    added: [],
    flagged: [],
    accepted: [],
    removed: [],
    adapted: [],
    leftOut: allLeftOut(candidates),
  };
  const writes: NewEnvironmentTool[] = [];
  const seen = new Set<string>();
  const at = now();
  let space = await toolSpace(tx, environmentId);
  const place = ({ sourceId, tool, changes }: Candidates['tools'][number]): void => {
    const before = pinned.get(sourceId);
    const name =
      before?.name ??
      upstreamToolName(connector, sourceId, (wanted) => taken.has(wanted) || catalogue.tool(wanted) !== undefined);
    if (!before && taken.has(name)) {
      report.leftOut.push({ tool: sourceId, reason: `another tool already has the name ${name}` });
      return;
    }
    if (!before && space === 0) {
      const reason = `the environment already has ${STORED.tools} tools, the maximum; delete tools that are not used`;
      report.leftOut.push({ tool: sourceId, reason });
      return;
    }
    if (!before) space -= 1;
    seen.add(sourceId);
    taken.add(name);
    const { definition, flagged } = compare(before, { ...tool, name }, accept);
    if (!before) report.added.push(name);
    else if (flagged !== null) report.flagged.push(name);
    else if (isOther(before, tool)) report.accepted.push(name);
    if (changes.length > 0) report.adapted.push({ tool: name, changes });
    writes.push({ name, connector, source: 'mcp', sourceId, definition, flagged, at });
  };
  await inBatches(tx, candidates.tools, (batch) => batch.forEach(place));
  report.removed = rows.filter(({ sourceId }) => !seen.has(sourceId ?? '')).map(({ name }) => name);
  await deleteTools(tx, environmentId, report.removed);
  await inBatches(tx, writes, (batch) => tx.environmentTools.upsert(environmentId, batch));
  report.tools = writes.length;
  return report;
}

function isOurs({ source }: EnvironmentToolRow): boolean {
  return source === 'mcp';
}

function compare(
  before: EnvironmentToolRow | undefined,
  tool: Tool,
  accept: boolean,
): { definition: object; flagged: string | null } {
  if (!before || accept || !isOther(before, tool)) return { definition: tool, flagged: null };
  return { definition: JSON.parse(before.definition) as object, flagged: CHANGED };
}

/** Whether the server's definition of a tool has changed since it was stored. */
function isOther({ definition }: EnvironmentToolRow, tool: Tool): boolean {
  return (JSON.parse(definition) as Tool).mcp?.pin !== tool.mcp?.pin;
}
