import { BinaryBody } from '../../core/bodies/binary-body.ts';
import type { Executions } from '../../core/capabilities/executions.ts';
import { ApiError } from '../../core/errors.ts';
import { OCTETS } from '../../core/tools/file-content.ts';
import type { Handler } from '../../http/contract.ts';

/**
 * Third-party content is always downloaded and never shown. Otherwise a tool could publish a web page under this
 * server's origin.
 */
export const downloadFile: Handler<'downloadFile', Executions> = async (call, reply, executions) => {
  const file = await executions.files.open(call.environment.id, call.path.file_token);
  if (!file) throw new ApiError('NOT_FOUND', 'The file does not exist or has expired.');
  return reply(200, new BinaryBody(file.bytes), {
    'content-type': file.mediaType ?? OCTETS,
    'content-disposition': disposition(file.name),
    'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
    'cross-origin-resource-policy': 'same-origin',
  });
};

/** Returns both forms of RFC 6266 §4.3; characters that a quoted string cannot contain are only in the second one. */
function disposition(name: string): string {
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, '_');
  const encoded = encodeURIComponent(name).replace(/['()*!]/g, (char) => `%${char.charCodeAt(0).toString(16)}`);
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
