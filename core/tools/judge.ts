import { SCHEMA } from '../budgets.ts';
import type { ProviderDefinition } from '../connectors/provider.ts';
import type { FieldError } from '../errors.ts';
import type { Job } from '../threads/job.ts';
import { JobLimitError } from '../threads/job.ts';
import type { ThreadPool } from '../threads/pool.ts';

export interface ToolJudge {
  /**
   * Validates a custom tool: its format, its rules and its schemas, which are compiled in a thread.
   *
   * @param environmentId the environment whose thread limit applies
   * @param definition any value
   * @param provider the provider whose accounts will run it
   * @returns at most 20 entries, one per invalid field, with paths from the tool's root
   * @throws ApiError RATE_LIMITED or SERVER_BUSY if too much of this work is waiting
   */
  judge(environmentId: string, definition: unknown, provider: ProviderDefinition): Promise<FieldError[]>;
}

export interface JudgeRequest {
  /** The address of the folder with the schemas of tools and connectors. */
  folder: string;
  /** The definition as JSON. */
  definition: string;
  provider: string;
}

const judgeJob: Job<JudgeRequest, FieldError[]> = {
  module: new URL('./judge-thread.ts', import.meta.url),
  timeMs: SCHEMA.judgeMs,
};

/** @param folder contains tool.schema.json and connector.schema.json */
export function createToolJudge(threads: ThreadPool, folder: URL): ToolJudge {
  return {
    async judge(environmentId, definition, provider) {
      const request = {
        folder: folder.href,
        definition: JSON.stringify(definition),
        provider: JSON.stringify(provider),
      };
      const cost = { tenant: environmentId, bytes: request.definition.length + request.provider.length };
      try {
        return await threads.run(judgeJob, request, cost);
      } catch (error) {
        if (!(error instanceof JobLimitError)) throw error;
        return [
          {
            field: 'input_schema',
            message: `takes too much ${error.reason} to compile; the cause can also be output_schema`,
          },
        ];
      }
    },
  };
}
