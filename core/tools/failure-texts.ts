import { atPointer, isRecord } from './pointer.ts';

/**
 * The maximum numbers of texts that are taken from one place, and of values and levels that are searched for them. The
 * search is limited because a body may have a million values.
 */
const MAX_TEXTS = 3;
const MAX_VALUES = 200;
const MAX_LEVELS = 8;
/** The members of an object that describe a failure in a sentence, in order of preference. */
const SENTENCES = ['message', 'description', 'detail', 'title', 'error', 'code'];
/** The members that name the invalid field next to such a sentence. */
const FIELDS = ['field', 'param', 'name', 'property'];

/**
 * Combines the reason of a failure from several places of a response: providers put a general sentence in one place and
 * the invalid fields in another. A place may contain a text, or lists and objects of texts: `{"summary": "is
 * required"}` is read as `summary: is required`.
 *
 * @param pointers JSON pointers (RFC 6901), in the order in which their texts are joined
 * @returns undefined if none of the places contains a text
 */
export function failureTexts(json: unknown, pointers: readonly string[]): string | undefined {
  const texts = pointers.flatMap((pointer) => {
    const found = textsBelow(atPointer(json, pointer));
    return found.length === 0 ? [] : [found.join('; ')];
  });
  const different = texts.filter((text, index) => texts.indexOf(text) === index);
  return different.length === 0 ? undefined : different.join(': ');
}

/** Returns the first texts in a value, each with the name of its field. */
function textsBelow(value: unknown): string[] {
  const texts: string[] = [];
  let left = MAX_VALUES;

  function visit(at: unknown, field: string, level: number): void {
    if (texts.length === MAX_TEXTS || left-- <= 0 || level > MAX_LEVELS) return;
    const text = plainText(at);
    if (text !== undefined) texts.push(field === '' ? text : `${field}: ${text}`);
    else if (Array.isArray(at)) visitAll(at, (item) => visit(item, field, level + 1));
    else if (isRecord(at)) visitObject(at, field, level);
  }

  function visitObject(object: Readonly<Record<string, unknown>>, field: string, level: number): void {
    const sentence = SENTENCES.map((name) => plainText(own(object, name))).find((text) => text !== undefined);
    const named = FIELDS.map((name) => plainText(own(object, name))).find((text) => text !== undefined);
    if (sentence !== undefined) {
      visit(sentence, named ?? field, level + 1);
      return;
    }
    for (const name in object) {
      if (texts.length === MAX_TEXTS || left <= 0) return;
      // Discord puts the errors of a field into a member `_errors`, whose name is not the name of a field.
      if (Object.hasOwn(object, name)) visit(object[name], name.startsWith('_') ? field : name, level + 1);
    }
  }

  function visitAll(items: readonly unknown[], use: (item: unknown) => void): void {
    for (let at = 0; at < items.length && texts.length < MAX_TEXTS && left > 0; at++) use(items[at]);
  }

  visit(value, '', 0);
  return texts;
}

function own(object: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function plainText(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}
