import { readdir, readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import type { ToolBody, ToolPagination } from '../../core/tools/tool.ts';

/**
 * How an input of a tool is described:
 * - a string is the input's description; its type comes from the API's own description
 * - a list has the type in words, the input's description, and a sample value for examples
 * - null refers to the entry of that name in `inputs`
 */
export type InputWords = null | string | [type: unknown, description: string, sample?: unknown];

/** What an author writes for one tool. Types and places come from the API's own description, if there is one. */
export interface ToolWords {
  /** The name of the tool without its connector. */
  do: string;
  /** Method and path. The variables of the path are inputs. */
  call: string;
  /** The description. For a tool that only reads, a sentence is added that says so. */
  says: string;
  title?: string;
  /** The name of an entry of `scopes`. */
  scope?: string;
  /** The effect of the call, if it is not the usual one of its HTTP method. */
  hint?: 'read' | 'add' | 'set' | 'once' | 'end';
  /** Inputs described under `inputs`, separated by spaces. */
  use?: string;
  /**
   * The inputs by name. `!` makes an input required, `?` optional. `=` is followed by the place to which it is sent:
   * `?name` in the query, `^Header`, `/pointer` in the body, or `~` if only `fixed` uses the input.
   */
  in?: Record<string, InputWords>;
  /** Values that are sent although no input provides them: templates, by place. */
  fixed?: Record<string, unknown>;
  /** Another origin that is called instead of the base address. */
  origin?: string;
  format?: ToolBody['format'];
  media_type?: string;
  /** The part of the response that the tool returns, as a pointer. */
  from?: string;
  /** The members of that part that are kept, separated by spaces; or `@` and the name of an entry of `keeps`. */
  keep?: string;
  /** The kind of result, if it is not JSON with selected members. */
  gives?: 'none' | 'file' | 'text' | 'object' | 'list';
  /** The name of an entry of `pages`. */
  page?: string;
  /** Inputs of the example, in addition to samples of the required inputs. */
  try?: Record<string, unknown>;
  /** What the example does, in words. */
  eg?: string;
  /** Reviewed differences between the tool and the API's description. */
  differs?: Record<string, string>;
}

/** What an author writes for the tools of one connector. */
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
  /** Defaults for tools that do not set these keys themselves. */
  usual?: Pick<ToolWords, 'scope' | 'from' | 'page' | 'fixed'>;
  /** Members of responses that may be any JSON, although the API's own description declares a type for them. */
  any?: string[];
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
