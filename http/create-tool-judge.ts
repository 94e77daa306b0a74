import { readFileSync } from 'node:fs';
import type { ToolJudge } from '../core/discovery/custom-tools.ts';
import { createDefinitionSchema } from '../core/tools/definition-schema.ts';
import type { JsonSchema } from '../core/tools/tool.ts';
import { createToolRules } from '../core/tools/tool-rules.ts';

const CATALOGUE = new URL('../catalogue/', import.meta.url);

/** Compiling the schemas takes longer than a start should: it waits for the first tool that is to be judged. */
export function createToolJudge(): () => ToolJudge {
  let judge: ToolJudge | undefined;
  return () => {
    judge ??= {
      schema: createDefinitionSchema({ tool: readSchema('tool'), connector: readSchema('connector') }),
      rules: createToolRules(),
    };
    return judge;
  };
}

function readSchema(name: string): JsonSchema {
  return JSON.parse(readFileSync(new URL(`${name}.schema.json`, CATALOGUE), 'utf8')) as JsonSchema;
}
