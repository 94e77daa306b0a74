import { ApiError } from '../errors.ts';
import { isRecord } from '../tools/pointer.ts';
import { type Tool, wholeInputSchema } from '../tools/tool.ts';

/**
 * The name of the additional tool input with which an MCP client requests all pages of a result. In the REST API,
 * `all_pages` is a member of the request instead.
 */
export const ALL_PAGES = 'all_pages';

/** Whether MCP clients can request all pages: the tool has pages, and declares no input named `all_pages` itself. */
export function offersAllPages(tool: Tool): boolean {
  const { properties } = wholeInputSchema(tool) as { properties?: object };
  return tool.pagination !== undefined && !Object.hasOwn(properties ?? {}, ALL_PAGES);
}

/**
 * Removes `all_pages` from the input of a tool and returns its value separately. If the tool does not offer it or the
 * input does not contain it, the input is returned unchanged, with `allPages` false.
 *
 * @throws ApiError INVALID_TOOL_INPUT if `all_pages` is not true or false
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
