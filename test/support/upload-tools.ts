import type { ToolDirectory } from '../../core/discovery/directory.ts';
import { fileInputSchema } from '../../core/tools/file-input.ts';
import type { Tool } from '../../core/tools/tool.ts';
import { wrap } from '../../wiring/overrides.ts';

/** Tools that send files. The catalogue has none for the applications that tests emulate. */
const TOOLS: Record<string, Pick<Tool, 'input_schema' | 'request'>> = {
  http_upload: {
    input_schema: { type: 'object', additionalProperties: false, properties: { file: fileInputSchema('The file.') } },
    request: { method: 'POST', path: '/upload', body: { format: 'raw', value: { $file: 'file' } } },
  },
  http_upload_many: {
    input_schema: {
      type: 'object',
      additionalProperties: false,
      properties: { files: { type: 'array', items: fileInputSchema('One of the files.') } },
    },
    request: { method: 'POST', path: '/upload', body: { format: 'multipart', value: { files: { $file: 'files' } } } },
  },
};

/** Adds these tools to the tool directory of a test server. */
export const withUploadTools = wrap<ToolDirectory>((directory) => ({
  ...directory,
  find: async (read, environment, name) => {
    const upload = Object.hasOwn(TOOLS, name) ? TOOLS[name] : undefined;
    const known = await directory.find(read, environment, upload === undefined ? name : 'http_post');
    return known && upload ? { ...known, tool: { ...known.tool, name, ...upload } } : known;
  },
}));
