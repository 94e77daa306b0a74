import { readdir, readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import type { ToolBody, ToolPagination } from '../../core/tools/tool.ts';

/**
 * How the input of a tool is described: a text, if the API's own description has its type; a type in words, a text, and
 * a sample for examples; or null, for the entry in `inputs`.
 */
export type InputWords = null | string | [type: unknown, description: string, sample?: unknown];

/** The words for one tool. Types, places and the rest come from the API's own description, if there is one. */
export interface ToolWords {
  /** The name without the connector. */
  do: string;
  /** Method and path. The variables of the path are inputs. */
  call: string;
  /** The description. For a tool that only reads, a sentence is added that says so. */
  says: string;
  title?: string;
  /** The name of an entry of `scopes`. */
  scope?: string;
  /** The effect of the call, if the method usually has another one. */
  hint?: 'read' | 'add' | 'set' | 'once' | 'end';
  /** Inputs described under `inputs`, separated by spaces. */
  use?: string;
  /**
   * Inputs by name. `!` makes one required, `?` optional; `=` is followed by its place: `?name`, `^Header`, `/pointer`, or `~` if
   * only `fixed` uses it.
   */
  in?: Record<string, InputWords>;
  /** Templates by place, for values that no input is sent as. */
  fixed?: Record<string, unknown>;
  /** Another origin than the base address. */
  origin?: string;
  format?: ToolBody['format'];
  media_type?: string;
  /** The part of the response that is returned. */
  from?: string;
  /** The members that are kept, separated by spaces, or `@` and the name of an entry of `keeps`. */
  keep?: string;
  /** The kind of result, if it is not JSON of which some members are kept. */
  gives?: 'none' | 'file' | 'text' | 'object' | 'list';
  /** The name of an entry of `pages`. */
  page?: string;
  /** Inputs of the example, besides samples of those that are required. */
  try?: Record<string, unknown>;
  /** The purpose of the example. */
  eg?: string;
  /** Reviewed differences between the tool and the API's description. */
  differs?: Record<string, string>;
}

/** The words for the tools of one connector. */
export interface Drafts {
  connector: string;
  /** The date of the comparison with the description of the API. */
  on: string;
  /** The name of the description with which a reviewer compared the tools, if no command can read that description. */
  with?: string;
  scopes?: Record<string, string[][]>;
  /** Common inputs, with the same keys as `in` of a tool. */
  inputs?: Record<string, InputWords>;
  keeps?: Record<string, string>;
  pages?: Record<string, ToolPagination>;
  /** The notation of lists in forms. */
  lists?: ToolBody['lists'];
  /** The defaults of tools that do not set these keys. */
  usual?: Pick<ToolWords, 'scope' | 'from' | 'page' | 'fixed'>;
  /** Reviewed differences that several tools have. */
  differs?: Record<string, string>;
  /** Whether the tools have no effect outside the account. */
  closed?: boolean;
  /** The tools by tag. */
  tools: Record<string, ToolWords[]>;
}

const FOLDER = new URL('../../catalogue/generated/', import.meta.url);

export async function readDrafts(): Promise<Drafts[]> {
  const files = (await readdir(FOLDER)).filter((name) => name.endsWith('.yaml')).sort();
  return Promise.all(
    files.map(async (name) => {
      const words = parse(await readFile(new URL(name, FOLDER), 'utf8')) as Omit<Drafts, 'connector'>;
      return { ...words, connector: name.slice(0, -'.yaml'.length) };
    }),
  );
}
