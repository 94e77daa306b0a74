import { stem } from './words.ts';

/**
 * Groups of words that users use for the same action or thing, in any application. A word also matches the other words
 * of its line, with a lower weight.
 */
const LINES = [
  'create add make new insert open start leave file report register',
  'delete remove erase trash discard clear cancel',
  'list show browse see display get',
  'find search look lookup query',
  'get read fetch retrieve view show see check',
  'update edit change modify set adjust rename reschedule move',
  'status state stage transition',
  'link associate connect relate attach',
  'send post write text',
  'reply respond answer',
  'cancel stop end abort void',
  'close resolve complete finish',
  'schedule book plan',
  'move transfer transition',
  'copy duplicate clone',
  'archive hide',
  'upload import',
  'download export',
  'comment note remark',
  'email mail message',
  'sms text message',
  'dm direct',
  'meeting event appointment',
  'ticket issue bug task',
  'todo task',
  'repo repository',
  'document doc page file',
  'folder directory',
  'customer client',
  'person people user member',
  'company organization business',
  'deal opportunity',
  'payment charge',
  'invoice bill',
  'reaction emoji',
  'share invite permission',
  'busy free available',
];

/** The synonyms of each word, all stemmed. */
export const SYNONYMS: ReadonlyMap<string, readonly string[]> = readLines();

function readLines(): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const line of LINES) {
    const words = line.split(' ').map(stem);
    for (const word of words) {
      const others = words.filter((other) => other !== word && !found.get(word)?.includes(other));
      found.set(word, [...(found.get(word) ?? []), ...others]);
    }
  }
  return found;
}
