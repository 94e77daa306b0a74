import { SCHEMA } from '../budgets.ts';
import { ApiError } from '../errors.ts';
import type { Job } from '../threads/job.ts';
import { JobLimitError } from '../threads/job.ts';
import type { ThreadPool } from '../threads/pool.ts';
import { isSmallWork, measureSchema } from '../tools/schema-bounds.ts';
import { type SchemaText, schemaText } from '../tools/schema-text.ts';
import type { JsonSchema, Tool } from '../tools/tool.ts';
import { createOutputValidator } from './output-validator.ts';

export interface OutputChecker {
  /**
   * Whether data that a provider returned matches the output schema of its tool. Also false if the schema is invalid or
   * too complex, the check takes too long, or too many checks are waiting.
   */
  fits(environmentId: string, tool: Tool, data: unknown): Promise<boolean>;
}

export interface OutputJobRequest {
  schema: SchemaText;
  /** The data as JSON. */
  data: string;
}

const outputJob: Job<OutputJobRequest, boolean> = {
  module: new URL('./output-thread.ts', import.meta.url),
  timeMs: SCHEMA.checkMs,
};

/**
 * Creates the checker that compares the results of tools with the advertised output schemas. MCP clients reject results
 * that do not match, and a provider may return anything. Small results are validated immediately. Results that may take
 * more than a few milliseconds are validated in a thread.
 *
 * @param capacity the maximum number of compiled schemas that are kept for small results
 */
export function createOutputChecker(threads: ThreadPool, capacity = 500): OutputChecker {
  const validator = createOutputValidator(capacity, SCHEMA.patternSteps);

  async function inThread(environmentId: string, output: JsonSchema, data: unknown): Promise<boolean> {
    const request = { schema: schemaText(output), data: JSON.stringify(data) };
    const cost = { tenant: environmentId, bytes: request.schema.json.length + request.data.length };
    try {
      return await threads.run(outputJob, request, cost);
    } catch (error) {
      if (error instanceof JobLimitError || error instanceof ApiError) return false;
      throw error;
    }
  }

  return {
    async fits(environmentId, { output_schema: output }, data) {
      if (!isUsable(output)) return false;
      return isSmallWork(output, data) ? validator.fits(output, data) : inThread(environmentId, output, data);
    },
  };
}

function isUsable(schema: JsonSchema): boolean {
  try {
    measureSchema(schema);
    return true;
  } catch {
    return false;
  }
}
