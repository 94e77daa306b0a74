import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { JsonSchema, ToolHints } from '../../core/tools/tool.ts';

/** What we say of one input; a text alone is its description. */
export type InputWords = string | { description: string; required?: boolean; schema?: JsonSchema; sample?: unknown };

/** What we say of one operation; the rest comes from the API's own description. */
export interface ToolWords {
  /** The operation's id in the API's description. */
  operation: string;
  name: string;
  title: string;
  description: string;
  tags: string[];
  hints: ToolHints;
  /** The name of a list of sets in `scopes`. */
  scopes: string;
  /** A schema in place of that of the body, if the description's is not a plain object. */
  body?: JsonSchema;
  inputs?: Record<string, InputWords>;
  /** Parameters that are not offered though there are words for an input of their name. */
  hide?: string[];
  /** Parameters that are always sent. */
  fixed?: Record<string, unknown>;
  /** Where the description does not show that there are pages. */
  pages?: 'link_header';
  /** `none` for a response without content, or a schema in place of what `fields` give. */
  answer?: 'none' | JsonSchema;
  select?: string;
  fields?: string[];
  base64?: string[];
  /** Inputs beyond those that have a sample. */
  examples: { input: Record<string, unknown>; note: string }[];
}

export interface Words {
  inputs: Record<string, Exclude<InputWords, string>>;
  scopes: Record<string, string[][]>;
  tools: ToolWords[];
}

const FILE = new URL('../../catalogue/generated/github/words.yaml', import.meta.url);

export function readWords(): Words {
  return parse(readFileSync(FILE, 'utf8')) as Words;
}

/** What is said of an input of a tool: by the tool itself, else for all tools; undefined for one that is not offered. */
export function wordsOf(words: Words, tool: ToolWords, input: string): Exclude<InputWords, string> | undefined {
  const common = Object.hasOwn(words.inputs, input) ? words.inputs[input] : undefined;
  const own = tool.inputs && Object.hasOwn(tool.inputs, input) ? tool.inputs[input] : undefined;
  if (own === undefined) return common;
  return { ...common, ...(typeof own === 'string' ? { description: own } : own) };
}
