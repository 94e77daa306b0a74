import { TOOL_INPUT } from '../budgets.ts';
import { inputProblem } from './input-problem.ts';
import { isRecord } from './pointer.ts';

/** A copy of an input that is within the limits. */
export interface InputCopy {
  value: Record<string, unknown>;
  /** The number of objects, lists, members and items. */
  nodes: number;
  /** The approximate size as JSON. */
  bytes: number;
}

/**
 * Copies and measures an input. Defaults are later filled into the copy.
 *
 * @throws ApiError INVALID_TOOL_INPUT if the input is not an object, is too large or nested too deeply, or has a member
 * named `__proto__`
 */
export function copyInput(toolInput: unknown): InputCopy {
  if (!isRecord(toolInput)) throw inputProblem(undefined, 'must be an object');
  let nodes = 0;
  let bytes = 0;
  const count = (more: number) => {
    bytes += more;
    if (bytes > TOOL_INPUT.bytes) throw inputProblem(undefined, `must have at most ${TOOL_INPUT.bytes} bytes`);
  };
  const copyOf = (value: unknown, depth: number): unknown => {
    if (depth > TOOL_INPUT.levels) {
      throw inputProblem(undefined, `must be nested at most ${TOOL_INPUT.levels} levels`);
    }
    nodes++;
    count(typeof value === 'string' ? Buffer.byteLength(value) : 8);
    if (Array.isArray(value)) return value.map((item) => copyOf(item, depth + 1));
    return isRecord(value) ? copyOfRecord(value, depth) : value;
  };
  const copyOfRecord = (record: Record<string, unknown>, depth: number): Record<string, unknown> => {
    const copy: Record<string, unknown> = {};
    for (const key of Object.keys(record)) {
      if (key === '__proto__') throw inputProblem(undefined, 'must not have a member named __proto__');
      count(Buffer.byteLength(key));
      copy[key] = copyOf(record[key], depth + 1);
    }
    return copy;
  };
  const value = copyOf(toolInput, 0) as Record<string, unknown>;
  return { value, nodes, bytes };
}
