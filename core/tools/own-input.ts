import { SCHEMA } from '../budgets.ts';
import { PatternBudgetError } from '../connectors/linear-pattern.ts';
import type { Job } from '../threads/job.ts';
import { JobLimitError } from '../threads/job.ts';
import type { ThreadPool } from '../threads/pool.ts';
import { type CheckedInput, createInputValidator, splitCursor } from './input.ts';
import { copyInput, type InputCopy } from './input-copy.ts';
import { inputProblem } from './input-problem.ts';
import { withPresetInputs } from './preset-inputs.ts';
import { isSmallWork, SchemaBoundsError } from './schema-bounds.ts';
import { NON_STRICT } from './schema-compiler.ts';
import { type SchemaText, schemaText } from './schema-text.ts';
import { type Tool, wholeInputSchema } from './tool.ts';

export interface OwnInputChecker {
  /**
   * Checks the input of a tool that is not in the catalogue. The schema of such a tool is not trusted.
   *
   * @param environmentId the environment whose thread limit applies
   * @throws ApiError INVALID_TOOL_INPUT, also if the schema of the tool cannot be used or takes too much time or
   * memory; RATE_LIMITED or SERVER_BUSY if too many checks are running or waiting
   */
  check(environmentId: string, tool: Tool, toolInput: unknown): Promise<CheckedInput>;
}

export interface InputJobRequest {
  /** Whether the tool comes from an MCP server; its schema is then compiled with `NON_STRICT`. */
  isMcp: boolean;
  schema: SchemaText;
  /** The input as JSON. */
  input: string;
}

const inputJob: Job<InputJobRequest, string> = {
  module: new URL('./own-input-thread.ts', import.meta.url),
  timeMs: SCHEMA.checkMs,
};

/**
 * Creates the checker for inputs of tools with untrusted schemas. A small input of a small schema is validated on the
 * event loop. If it is larger, or its patterns take too many steps, it is validated in a thread. The thread is ended if
 * the validation takes more than `SCHEMA.checkMs`.
 */
export function createOwnInputChecker(threads: ThreadPool, capacity = 500): OwnInputChecker {
  const strict = createInputValidator(capacity, SCHEMA.patternSteps);
  const loose = createInputValidator(capacity, SCHEMA.patternSteps, NON_STRICT);

  async function filled(environmentId: string, tool: Tool, input: InputCopy): Promise<Record<string, unknown>> {
    const schema = wholeInputSchema(tool);
    const isMcp = tool.mcp !== undefined;
    if (isSmallWork(schema, input.value)) {
      try {
        (isMcp ? loose : strict).validate(schema, input);
        return input.value;
      } catch (error) {
        // The patterns (regular expressions) need more steps than the event loop allows; a thread allows more.
        if (!(error instanceof PatternBudgetError)) throw error;
      }
    }
    const request = { isMcp, schema: schemaText(schema), input: JSON.stringify(input.value) };
    const cost = { tenant: environmentId, bytes: request.schema.json.length + request.input.length };
    return JSON.parse(await threads.run(inputJob, request, cost)) as Record<string, unknown>;
  }

  return {
    async check(environmentId, tool, toolInput) {
      const copy = copyInput(toolInput);
      const { cursor, input } = splitCursor(tool, copy.value);
      try {
        const value = await filled(environmentId, tool, { ...copy, value: withPresetInputs(tool, input) });
        return { input: value, ...(cursor !== undefined && { cursor }) };
      } catch (error) {
        if (error instanceof JobLimitError) throw tooCostly(error);
        if (error instanceof SchemaBoundsError) throw unusable(error);
        throw error;
      }
    },
  };
}

function tooCostly(cause: JobLimitError) {
  return inputProblem(
    undefined,
    `takes too much ${cause.reason} to validate against the input_schema of the tool: send a smaller input`,
  );
}

function unusable({ message }: SchemaBoundsError) {
  return inputProblem(undefined, `cannot be validated: the input_schema of the tool ${message}`);
}
