import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { JsonSchema, ToolHints } from '../../core/tools/tool.ts';
import type { Comparison } from '../catalogue-files.ts';

/** The text of one input; a plain text is its description. */
export type InputWords = string | { description: string; required?: boolean; schema?: JsonSchema; sample?: unknown };

/** What an author writes for one operation; everything else comes from the API's own description. */
export interface ToolWords {
  /** The operation's id in the API's description. */
  operation: string;
  name: string;
  title: string;
  description: string;
  tags: string[];
  hints: ToolHints;
  /** The name of an entry in `scopes`. */
  scopes: string;
  /** Replaces the schema of the body if the schema in the description is not a plain object. */
  body?: JsonSchema;
  inputs?: Record<string, InputWords>;
  /** Parameters that the tool does not offer, although a common text for an input of this name exists. */
  hide?: string[];
  /** Parameters that are always sent. */
  fixed?: Record<string, unknown>;
  /** Set if the description does not show that the operation has pages. */
  pages?: 'link_header';
  /** `none` for a response without content, or a schema that replaces the one from `fields`. */
  answer?: 'none' | JsonSchema;
  select?: string;
  fields?: string[];
  base64?: string[];
  compared?: Comparison;
  /** Further inputs for examples, in addition to the samples. */
  examples: { input: Record<string, unknown>; note: string }[];
}

export interface Words {
  /** When and with which description the tools were compared, unless a tool states it itself. */
  compared: Comparison;
  inputs: Record<string, Exclude<InputWords, string>>;
  scopes: Record<string, string[][]>;
  tools: ToolWords[];
}

const FILE = new URL('../../catalogue/generated/github/words.yaml', import.meta.url);

export function readWords(): Words {
  return parse(readFileSync(FILE, 'utf8')) as Words;
}

/**
 * Returns the text of an input: the tool's own, otherwise the common one; undefined for an input that is not offered.
 */
export function wordsOf(words: Words, tool: ToolWords, input: string): Exclude<InputWords, string> | undefined {
  const common = Object.hasOwn(words.inputs, input) ? words.inputs[input] : undefined;
  const own = tool.inputs && Object.hasOwn(tool.inputs, input) ? tool.inputs[input] : undefined;
  if (own === undefined) return common;
  return { ...common, ...(typeof own === 'string' ? { description: own } : own) };
}
