import type { AccountSummaryRow } from '../../db/store.ts';
import type { KnownTool } from '../discovery/directory.ts';
import type { FoundTool } from '../discovery/find-tools.ts';
import { anthropicTool, mcpTool, openAiTool } from '../discovery/formats.ts';
import { geminiTool } from '../discovery/gemini.ts';
import { publicInputSchema } from '../tools/input.ts';
import type { Tool } from '../tools/tool.ts';
import { definitionOf } from '../tools/tool.ts';
import type { Schemas } from './schemas.ts';

export interface ToolView {
  format: 'native' | 'openai' | 'anthropic' | 'gemini' | 'mcp';
  detail: 'compact' | 'full';
  /** Only for the format `openai`. */
  strict: boolean;
}

/** Returns a tool in the requested format and level of detail. */
export function presentToolAs(
  { tool, source }: KnownTool,
  { format, detail, strict }: ToolView,
): Schemas['FormattedTool'] {
  switch (format) {
    case 'openai':
      return openAiTool(tool, strict) as Schemas['OpenAiTool'];
    case 'anthropic':
      return anthropicTool(tool);
    case 'gemini':
      return geminiTool(tool) as Schemas['GeminiTool'];
    case 'mcp':
      return mcpTool(tool);
    case 'native':
      return detail === 'full' ? presentTool({ tool, source }) : summaryOf(tool, source);
  }
}

export function presentTool({ tool, source }: Pick<KnownTool, 'tool' | 'source'>): Schemas['Tool'] {
  return { ...summaryOf(tool, source), input_schema: publicInputSchema(tool), output_schema: tool.output_schema };
}

function summaryOf(tool: Tool, source: KnownTool['source']): Schemas['ToolSummary'] {
  const { reason: _reason, ...hints } = tool.hints;
  return {
    name: tool.name,
    title: tool.title,
    connector: tool.connector,
    description: tool.description,
    tags: tool.tags,
    hints,
    scopes: tool.scopes,
    paginated: tool.pagination !== undefined,
    source,
  };
}

/** Returns a tool of the environment as its author defined it. */
export function presentOwnTool(tool: Tool): Schemas['ToolDefinitionResponse'] {
  return {
    tool: presentTool({ tool, source: 'custom' }),
    definition: definitionOf(tool) as unknown as Schemas['ToolDefinition'],
  };
}

export function presentToolAccount(row: AccountSummaryRow): Schemas['ToolAccount'] {
  return {
    connected_account_id: row.id,
    connector: row.connector,
    identifier: row.identifier,
    organization_id: row.organizationId,
    user_id: row.userId,
  };
}

export function presentHit(hit: FoundTool, view: ToolView): Schemas['ToolHit'] {
  const found = { tool: presentToolAs(hit, view), connector: hit.connector };
  if (!hit.toolReadiness) return found;
  const { readiness, account, missingScopes, next } = hit.toolReadiness;
  return {
    ...found,
    readiness,
    connected_account_id: account?.id ?? null,
    missing_scopes: missingScopes,
    next_step: next && {
      operation_id: next.operationId as Schemas['ToolNextStep']['operation_id'],
      arguments: next.arguments,
      message: next.message,
    },
  };
}
