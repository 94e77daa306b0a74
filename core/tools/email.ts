import { FileContent, OCTETS } from './file-content.ts';
import { inputProblem } from './input-problem.ts';

/** A rendered member of {$email: …}. */
export interface EmailPart {
  value: unknown;
  /** The name of the input that the value comes from, for errors. */
  input: string | undefined;
}

export type EmailParts = Readonly<Record<string, EmailPart | undefined>>;

export const EMAIL_MEMBERS = [
  'from',
  'to',
  'cc',
  'bcc',
  'reply_to',
  'subject',
  'in_reply_to',
  'references',
  'content_type',
  'body',
  'attachments',
] as const;

const ADDRESS_HEADERS = [
  ['from', 'From'],
  ['to', 'To'],
  ['cc', 'Cc'],
  ['bcc', 'Bcc'],
  ['reply_to', 'Reply-To'],
] as const;
const ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]{1,64}";
const ADDRESS = new RegExp(`^${ATOM}(?:\\.${ATOM}){0,20}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$`);
const MESSAGE_IDS = /^<[^\s<>]{1,250}>(?: <[^\s<>]{1,250}>){0,50}$/;
/**
 * The maximum number of octets of text in one encoded word. With this length, a line with the word, its delimiters and
 * the name of the header has at most 76 characters (RFC 2047 §2).
 */
const WORD_OCTETS = 36;
const PLAIN_SUBJECT = /^[\x20-\x7e]{0,70}$/;

/**
 * Separates the parts of a message with attachments. A line of base64 never begins with hyphens, and no name or type
 * may contain a line break, so no content can contain the boundary (RFC 2046 §5.1.1).
 */
const BOUNDARY = '=_next_part';
/** The maximum number of characters of a piece of a long file name (RFC 2231 §3). */
const NAME_PIECE = 57;
const PLAIN_NAME = /^[A-Za-z0-9 !#$&+.,;=@^_~()[\]-]{1,60}$/;

/**
 * Builds a message (RFC 5322) with one text body, and attachments as further parts (RFC 2046 §5.1.3). The service that
 * sends the message must add Date and Message-ID. A line break or other control character in the value of a header is
 * rejected, because it could end the header (header injection).
 *
 * @returns the message with CRLF line ends, in ASCII
 * @throws ApiError INVALID_TOOL_INPUT with the name of the input, if it is known
 */
export function buildEmail(parts: EmailParts): string {
  const headers: string[] = [];
  for (const [member, header] of ADDRESS_HEADERS) {
    const part = parts[member];
    if (part === undefined) continue;
    const addresses = [part.value].flat().map((address) => mailbox(address, part.input));
    if (addresses.length > 0) headers.push(`${header}: ${addresses.join(',\r\n ')}`);
  }
  const subject = parts['subject'];
  if (subject) headers.push(`Subject: ${encodeText(oneLine(subject), PLAIN_SUBJECT)}`);
  for (const [member, header] of [
    ['in_reply_to', 'In-Reply-To'],
    ['references', 'References'],
  ] as const) {
    const part = parts[member];
    if (part) headers.push(`${header}: ${messageIds(part)}`);
  }
  headers.push('MIME-Version: 1.0');
  const text = `${[
    `Content-Type: ${contentType(parts['content_type'])}; charset=utf-8`,
    'Content-Transfer-Encoding: base64',
  ].join('\r\n')}\r\n\r\n${encodeBody(parts['body'])}\r\n`;
  const files = attachedFiles(parts['attachments']);
  if (files.length === 0) return `${headers.join('\r\n')}\r\n${text}`;
  headers.push(`Content-Type: multipart/mixed; boundary="${BOUNDARY}"`);
  const sections = [text, ...files.map((file) => attachment(file, parts['attachments']?.input))];
  return `${headers.join('\r\n')}\r\n\r\n${sections.map((section) => `--${BOUNDARY}\r\n${section}`).join('')}--${BOUNDARY}--\r\n`;
}

function attachedFiles(part: EmailPart | undefined): FileContent[] {
  const files = part === undefined ? [] : [part.value].flat();
  return files.map((file) => {
    if (!(file instanceof FileContent)) throw inputProblem(part?.input, 'must be files');
    return file;
  });
}

/** Returns one attachment with its headers (RFC 2183). Each line ends with CRLF, including the last one. */
function attachment({ name, mediaType, bytes }: FileContent, input: string | undefined): string {
  const type = oneLine({ value: mediaType ?? OCTETS, input });
  return [
    `Content-Type: ${type}`,
    `Content-Disposition: attachment;\r\n ${fileName(oneLine({ value: name, input }))}`,
    'Content-Transfer-Encoding: base64',
    '',
    folded(bytes),
    '',
  ].join('\r\n');
}

/**
 * Returns the `filename` parameter of Content-Disposition: quoted for a plain name, otherwise percent-encoded, and
 * split into sections if it is long (RFC 2231 §3 and §4).
 */
function fileName(name: string): string {
  if (PLAIN_NAME.test(name)) return `filename="${name}"`;
  const encoded = encodeURIComponent(name.toWellFormed()).replace(
    /['()*!]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  const pieces = encoded.match(new RegExp(`(?:%[0-9A-F]{2}|[^%]){1,${NAME_PIECE / 3}}`, 'g')) ?? [];
  if (pieces.length === 1) return `filename*=UTF-8''${encoded}`;
  return pieces.map((piece, index) => `filename*${index}*=${index === 0 ? "UTF-8''" : ''}${piece}`).join(';\r\n ');
}

function folded(bytes: Buffer): string {
  return bytes.toString('base64').replace(/.{76}(?=.)/g, '$&\r\n');
}

function mailbox(address: unknown, input: string | undefined): string {
  if (typeof address !== 'string') throw inputProblem(input, 'must be a list of strings');
  const text = oneLine({ value: address, input }).trim();
  const open = text.endsWith('>') ? text.lastIndexOf('<') : -1;
  const spec = open === -1 ? text : text.slice(open + 1, -1);
  if (!ADDRESS.test(spec) || spec.includes('..')) {
    throw inputProblem(input, 'must be addresses such as ada@example.com or Ada <ada@example.com>, one per item');
  }
  const name =
    open === -1
      ? ''
      : text
          .slice(0, open)
          .trim()
          .replace(/^"(.*)"$/, '$1');
  return name === '' ? spec : `${displayName(name)} <${spec}>`;
}

/** Returns a short ASCII name as a quoted string (RFC 5322 §3.2.4), and any other name as encoded words (RFC 2047). */
function displayName(name: string): string {
  const encoded = encodeText(name, PLAIN_SUBJECT);
  return encoded === name ? `"${name.replace(/["\\]/g, '\\$&')}"` : encoded;
}

function messageIds({ value, input }: EmailPart): string {
  const text = oneLine({ value: [value].flat().join(' '), input }).trim();
  if (!MESSAGE_IDS.test(text)) throw inputProblem(input, 'must be a message id such as <abc@mail.example.com>');
  return text.replaceAll(' ', '\r\n ');
}

function contentType(part: EmailPart | undefined): string {
  const value = part?.value ?? 'text/plain';
  if (value !== 'text/plain' && value !== 'text/html')
    throw inputProblem(part?.input, 'must be text/plain or text/html');
  return value;
}

function oneLine({ value, input }: EmailPart): string {
  if (typeof value !== 'string') throw inputProblem(input, 'must be a string');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finding control characters is the purpose
  if (/[\u0000-\u001f\u007f\u0085\u2028\u2029]/.test(value)) {
    throw inputProblem(input, 'must be one line without control characters');
  }
  return value;
}

/**
 * Returns a text that matches `plain` unchanged, and encodes any other text as encoded words (RFC 2047), split between
 * characters. A plain text that looks like an encoded word is encoded too, so that mail programs do not decode it.
 */
function encodeText(text: string, plain: RegExp): string {
  if (plain.test(text) && !text.includes('=?')) return text;
  const words: string[] = [];
  let word = '';
  let octets = 0;
  for (const character of text.toWellFormed()) {
    const more = Buffer.byteLength(character);
    if (octets + more > WORD_OCTETS) {
      words.push(word);
      word = '';
      octets = 0;
    }
    word += character;
    octets += more;
  }
  words.push(word);
  return words.map((piece) => `=?UTF-8?B?${Buffer.from(piece).toString('base64')}?=`).join('\r\n ');
}

function encodeBody(part: EmailPart | undefined): string {
  const value = part?.value ?? '';
  if (typeof value !== 'string') throw inputProblem(part?.input, 'must be a string');
  const text = value.replace(/\r\n|\r|\n/g, '\r\n');
  return folded(Buffer.from(text, 'utf8'));
}
