import { createHash } from 'node:crypto';
import { isRecord } from '../tools/pointer.ts';
import type { Tool } from '../tools/tool.ts';

/** Keywords that do not affect validation. */
const ANNOTATIONS = ['title', 'description', 'examples', '$comment'];
/** Keywords whose member names are not keywords, but names that the author of the schema chose. */
const MAPS = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'];
const VALUES = ['enum', 'const', 'default'];

/**
 * Returns the digest of everything that determines the requests of a tool: its inputs without their descriptions, and
 * the template of the request. Changes to descriptions do not change the digest.
 */
export function toolDigest({ input_schema: schema, request, pagination, mcp }: Tool): string {
  const upstream = mcp && { name: mcp.name, names: mcp.names, headers: mcp.headers };
  const determining = JSON.stringify([bare(schema), request, pagination ?? null, upstream ?? null]);
  return createHash('sha256').update(determining).digest('hex');
}

function bare(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(bare);
  if (!isRecord(schema)) return schema;
  const kept = Object.entries(schema).filter(([keyword]) => !ANNOTATIONS.includes(keyword));
  return Object.fromEntries(
    kept.map(([keyword, value]) => {
      if (VALUES.includes(keyword)) return [keyword, value];
      if (!MAPS.includes(keyword) || !isRecord(value)) return [keyword, bare(value)];
      return [keyword, Object.fromEntries(Object.entries(value).map(([name, each]) => [name, bare(each)]))];
    }),
  );
}
