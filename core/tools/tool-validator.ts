import { SCHEMA } from '../budgets.ts';
import type { ProviderDefinition } from '../connectors/provider.ts';
import type { FieldError } from '../errors.ts';
import type { Job } from '../threads/job.ts';
import { JobLimitError } from '../threads/job.ts';
import type { ThreadPool } from '../threads/pool.ts';

export interface ToolValidator {
  /**
   * Validates a custom tool: its format, its rules and its schemas, which are compiled in a thread.
   *
   * @param environmentId the environment whose thread limit applies
   * @param definition any value
   * @param provider the provider whose accounts will run it
   * @returns at most 20 entries, one per invalid field, with paths from the tool's root
   * @throws ApiError RATE_LIMITED or SERVER_BUSY if too much of this work is waiting
   */
  validate(environmentId: string, definition: unknown, provider: ProviderDefinition): Promise<FieldError[]>;
}

export interface ValidationRequest {
  /** The address of the folder with the schemas of tools and connectors. */
  folder: string;
  /** The definition as JSON. */
  definition: string;
  provider: string;
}

const validationJob: Job<ValidationRequest, FieldError[]> = {
  module: new URL('./validate-tool-thread.ts', import.meta.url),
  timeMs: SCHEMA.validateMs,
};

/** @param folder contains tool.schema.json and connector.schema.json */
export function createToolValidator(threads: ThreadPool, folder: URL): ToolValidator {
  return {
    async validate(environmentId, definition, provider) {
      const request = {
        folder: folder.href,
        definition: JSON.stringify(definition),
        provider: JSON.stringify(provider),
      };
      const cost = { tenant: environmentId, bytes: request.definition.length + request.provider.length };
      try {
        return await threads.run(validationJob, request, cost);
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
