import { snake } from './names.ts';
import { extension, type Operation } from './operations.ts';
import { plainText } from './plain-text.ts';

type Data = Record<string, unknown>;

/**
 * The maximum length of a description, in characters. Models choose tools by their descriptions. In a comparable
 * catalogue, half of the descriptions have at most 125 characters.
 */
const MAX_DESCRIPTION = 280;

/**
 * Returns one line that says what the operation does: the overlay's description; otherwise the summary and the
 * beginning of the description; if the document has neither, method and path.
 */
export function describe({ data, method, path }: Operation, overlay: Data): string {
  const text = plainText(overlay['description'] ?? extension(data, 'x-gram')['description'], MAX_DESCRIPTION);
  if (text !== '') return text;
  const summary = plainText(data['summary'], MAX_DESCRIPTION);
  const description = plainText(data['description'], MAX_DESCRIPTION);
  if (summary === '' || description.toLowerCase().startsWith(summary.toLowerCase().replace(/\.$/, ''))) {
    return description || summary || plainText(`${method} ${path}`, MAX_DESCRIPTION) || method;
  }
  const sentence = /[.!?…:]$/.test(summary) ? summary : `${summary}.`;
  const room = MAX_DESCRIPTION - sentence.length - 1;
  return room < 40 || description === ''
    ? sentence.slice(0, MAX_DESCRIPTION)
    : `${sentence} ${plainText(description, room)}`;
}

/** Returns a short name for users. */
export function titleOf({ data, operationId, method, path }: Operation, overlay: Data): string {
  const words = snake(operationId ?? '').replaceAll('_', ' ');
  const title =
    [overlay['title'], data['summary'], words, `${method} ${path}`]
      .map((text) => plainText(text, 80))
      .find((text) => text !== '') ?? method;
  return title.charAt(0).toUpperCase() + title.slice(1);
}

/** Returns at most eight tags, in lower case with underscores as tool filters require. */
export function tagsOf({ data }: Operation, overlay: Data): string[] {
  const listed = overlay['tags'] ?? data['tags'];
  const tags = (Array.isArray(listed) ? listed : []).map((tag) => snake(String(tag)).slice(0, 40).replace(/_$/, ''));
  return [...new Set(tags.filter((tag) => /^[a-z][a-z0-9_]{1,39}$/.test(tag)))].slice(0, 8);
}
