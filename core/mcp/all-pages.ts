import { ApiError } from '../errors.ts';
import { isRecord } from '../tools/pointer.ts';
import { type Tool, wholeInputSchema } from '../tools/tool.ts';

/** The input with which a client of an MCP server requests all pages. Over REST it is a member of the request. */
export const ALL_PAGES = 'all_pages';

/** Whether clients may request all pages: the tool has pages, and it has no other input with this name. */
export function offersAllPages(tool: Tool): boolean {
  const { properties } = wholeInputSchema(tool) as { properties?: object };
  return tool.pagination !== undefined && !Object.hasOwn(properties ?? {}, ALL_PAGES);
}

/**
 * Separates the request for all pages from the input of a tool.
 *
 * @throws ApiError INVALID_TOOL_INPUT if it is not true or false
 */
export function takeAllPages(tool: Tool, input: unknown): { toolInput: unknown; allPages: boolean } {
  if (!isRecord(input) || !Object.hasOwn(input, ALL_PAGES) || !offersAllPages(tool)) {
    return { toolInput: input, allPages: false };
  }
  const { [ALL_PAGES]: allPages, ...toolInput } = input;
  if (typeof allPages === 'boolean') return { toolInput, allPages };
  const errors = [{ field: ALL_PAGES, message: 'must be true or false' }];
  throw new ApiError('INVALID_TOOL_INPUT', `The input of ${tool.name} is invalid.`, { errors });
}
