import { fileInputSchema } from '../../core/tools/file-input.ts';
import type { Tool } from '../../core/tools/tool.ts';
import type { Deps } from '../../http/deps.ts';

/** Tools that send files, which the catalogue has for no application that tests emulate. */
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

/** The tool directory of a server that has these tools as well; for `adapt` of a test server. */
export function withUploadTools({ toolDirectory, catalogue }: Deps): Pick<Deps, 'toolDirectory'> {
  return {
    toolDirectory: {
      ...toolDirectory,
      find: (read, environment, name) => {
        const upload = Object.hasOwn(TOOLS, name) ? TOOLS[name] : undefined;
        if (upload === undefined) return toolDirectory.find(read, environment, name);
        const tool: Tool = { ...(catalogue.tool('http_post') as Tool), name, ...upload };
        return Promise.resolve({ tool, source: 'catalogue', flagged: null });
      },
    },
  };
}
