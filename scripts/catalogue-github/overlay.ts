import type { ToolWords } from './words.ts';

interface Action {
  target: string;
  update?: object;
  remove?: true;
}

/**
 * Returns the overlay for the importer. For each tool it sets the name, fixed and hidden inputs, pages, and a body
 * schema.
 *
 * @param hidden names of inputs that a tool does not offer
 * @returns an Overlay 1.0.0 document as text
 */
export function overlayOf(tools: readonly ToolWords[], hidden: (tool: ToolWords) => string[]): string {
  const actions = tools.flatMap((tool): Action[] => {
    const target = `$.paths[*][?@.operationId=='${tool.operation}']`;
    const update = {
      'x-tool': { name: tool.name },
      'x-tool-params': { hide: [...hidden(tool), ...(tool.hide ?? [])], fix: tool.fixed ?? {} },
      ...(tool.pages && { 'x-tool-pagination': { style: tool.pages } }),
      ...(tool.body && {
        requestBody: { required: true, content: { 'application/json': { schema: tool.body } } },
      }),
    };
    const clear: Action[] = tool.body ? [{ target: `${target}.requestBody`, remove: true }] : [];
    return [...clear, { target, update }];
  });
  return JSON.stringify({ overlay: '1.0.0', info: { title: 'Tools of GitHub', version: '1' }, actions });
}
