/** A phrase that the project's texts must not contain. */
export interface Phrase {
  /** Matched case-insensitively; a space matches any white space, including a line break. */
  pattern: string;
  /** The replacement, with the reason if it is not obvious. */
  instead: string;
  /** Contexts in which the words have their literal meaning: regular expressions that must contain the match. */
  except?: string[];
}

const FOLLOWING =
  'and|or|in|on|at|to|for|by|from|with|without|under|behind|beside|after|before|that|which|where|when|as|if|is|are|has|have|may|must|so';

/** The banned phrases: idioms, archaic words, and words for which this field has a standard term. */
export const PHRASES: Phrase[] = [
  { pattern: 'at once', instead: '"immediately", or "at the same time" for things that happen together' },
  { pattern: 'anew', instead: '"again"' },
  { pattern: 'nobody', instead: '"no one", or name the user, client or caller' },
  { pattern: 'whoever', instead: 'name the user, client or caller' },
  {
    pattern: 'somebody|everybody|anybody',
    instead: 'name the user, client or caller',
    except: ['someone somebody anyone anybody everyone everybody'],
  },
  {
    // Before a noun ("of its own tools") the words are literal.
    pattern: `of (?:its|their|his|her|your|our|my|one's) own(?=\\s*(?:[^\\w\\s]|$)|\\s+(?:${FOLLOWING})\\b)`,
    instead: '"its own …", in front of the noun',
  },
  { pattern: 'the house', instead: '"the repository" or "the project"' },
  { pattern: 'rooms?', instead: '"space", "capacity", "folder" or "module"' },
  { pattern: 'in vain', instead: '"without success"' },
  { pattern: 'for good', instead: '"permanently"' },
  { pattern: 'mend(?:s|ed|ing)?', instead: '"fix" or "repair"' },
  { pattern: 'spoil(?:s|t|ed|ing)?', instead: '"break", "invalidate" or "corrupt"' },
  { pattern: 'borne', instead: '"tolerated" or "allowed"' },
  { pattern: 'lest', instead: '"so that … not"' },
  { pattern: 'alike', instead: '"the same way" or "both"' },
  { pattern: 'in (?:its|their|his) stead', instead: '"instead"' },
  { pattern: 'broken off|breaks? off|broke off', instead: '"interrupted", "aborted"' },
  { pattern: 'whatever', instead: 'name the thing, or "any"' },
  { pattern: 'odd', instead: '"unusual" or "invalid"', except: ['odd (?:number|length|count)', 'even or odd'] },
  { pattern: 'die(?:s|d)?', instead: '"ends", "expires", "is deleted" or "fails"' },
  { pattern: 'lies', instead: '"is", "is stored" or "is located"' },
  { pattern: 'behind (?:our|its|their|his) backs?', instead: 'say what happens without whose knowledge' },
  { pattern: 'wish(?:es)?', instead: '"query", "request" or "setting"' },
  {
    pattern:
      '(?<!there )(?:is|are|was|were) no(?! (?:longer|more|less|later|earlier|greater|larger|smaller|faster|slower|better|worse|one))',
    instead: '"is not a …", "has no …" or "there is no …"',
  },
  {
    pattern: 'answer(?:s|ed|ing)?',
    instead: '"returns" (verb), "response" (noun), "result"',
    except: [
      '(?:DNS|resolver.s) answers?',
      'answers? of (?:the DNS|the resolver|a resolver|DNS)',
      'reply respond answer',
    ],
  },
  {
    pattern: 'stands?|stood',
    instead: '"is", "is stored", "is set" or "appears"',
    except: ['stands? for', 'stand-ins?'],
  },
  { pattern: 'under way', instead: '"running", "current" or "unfinished"' },
  { pattern: 'goes on|went on', instead: '"continues" or "keeps …ing"' },
  { pattern: '(?:is|are|was|were) told', instead: '"receives", "is notified" or "is read from"' },
  { pattern: 'holds? up(?! to)|held up', instead: '"delays" or "blocks"' },
  { pattern: 'look(?:s|ed) at', instead: '"reads", "checks" or "examines"' },
  { pattern: 'unless (?:told|said) otherwise', instead: '"by default"' },
  { pattern: 'what came of', instead: '"the result of"' },
];
