import { expect } from 'chai';
import { chooseLanguage } from '../../web/languages/choose-language.ts';
import { en } from '../../web/languages/en.ts';
import type { MessageKey, Plural } from '../../web/languages/messages.ts';
import { LANGUAGES, type LanguageTag, textsOf } from '../../web/languages/texts.ts';

const TAGS = Object.keys(LANGUAGES) as LanguageTag[];
const KEYS = Object.keys(en) as MessageKey[];

const placeholders = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
const formsOf = (message: string | Plural) => (typeof message === 'string' ? [message] : Object.values(message));

describe('the languages of pages', () => {
  it('are those that the contract lists', () => {
    expect(TAGS).to.deep.equal('en de fr es pt-BR it nl pl tr ja ko zh-Hans ar hi'.split(' ') as LanguageTag[]);
  });

  for (const tag of TAGS) {
    describe(tag, () => {
      const messages = LANGUAGES[tag];

      it('has exactly the messages of English', () => {
        expect(Object.keys(messages)).to.have.members(KEYS);
      });

      it('has the placeholders of English in every message', () => {
        for (const key of KEYS) {
          const wanted = new Set(formsOf(en[key]).flatMap(placeholders));
          const message: string | Plural = messages[key];
          const found = new Set(formsOf(message).flatMap(placeholders));
          expect([...found], key).to.have.members([...wanted]);
          // Plural forms for one or two may state the number in words. The other forms must show the number.
          if (typeof message !== 'string') expect(placeholders(message.other), key).to.include('count');
        }
      });

      it('has exactly the plural forms of the language', () => {
        const categories = new Intl.PluralRules(tag).resolvedOptions().pluralCategories;
        for (const key of KEYS) {
          const message: string | Plural = messages[key];
          if (typeof message !== 'string') expect(Object.keys(message), key).to.have.members(categories);
        }
      });

      it('has no markup and no empty message', () => {
        for (const key of KEYS)
          for (const form of formsOf(messages[key])) expect(form, key).to.match(/\S/).and.not.match(/[<>&]/);
      });

      if (tag !== 'en') {
        it('is translated', () => {
          expect(KEYS.filter((key) => messages[key] === en[key])).to.deep.equal([]);
        });
      }

      it('shows every number in a form of its language', () => {
        const texts = textsOf(tag);
        for (const count of [0, 1, 2, 3, 5, 11, 21, 100, 1_000_000])
          expect(texts.plain('link.minutes_left', { count })).to.match(/\S/).and.not.include('{');
      });
    });
  }
});

describe('textsOf', () => {
  it('escapes and isolates values', () => {
    const text = textsOf('en').html('link.continue', { provider: '<b>&' });
    expect(String(text)).to.equal('Continue to <bdi>&lt;b&gt;&amp;</bdi>');
  });

  it('keeps values that look like placeholders', () => {
    const text = textsOf('en').plain('link.asks', { application: '{provider}', provider: '$&' });
    expect(text).to.equal('{provider} asks for access to your $& account.');
  });

  it('isolates values of plain texts where directions can mix', () => {
    expect(textsOf('en').plain('link.title', { provider: 'GitHub' })).to.equal('Connect GitHub');
    expect(textsOf('ar').plain('link.title', { provider: 'GitHub' })).to.include('\u2068GitHub\u2069');
    expect(textsOf('en').plain('link.title', { provider: 'جيت' })).to.include('\u2068جيت\u2069');
  });

  it('returns the direction of each language', () => {
    expect(TAGS.filter((tag) => textsOf(tag).direction === 'rtl')).to.deep.equal(['ar']);
  });

  it('formats lists of names, numbers and times by the rules of the language', () => {
    expect(textsOf('de').list(['A', 'B', 'C'])).to.equal('A, B und C');
    expect(textsOf('ja').list(['A', 'B'])).to.equal('A、B');
    expect(textsOf('de').number(1234.5)).to.equal('1.234,5');
    expect(textsOf('de').dateTime(Date.UTC(2026, 0, 2, 3, 4))).to.equal('02.01.2026, 03:04');
  });
});

describe('chooseLanguage', () => {
  for (const [requested, header, expected] of [
    [null, undefined, 'en'],
    [null, 'de', 'de'],
    [null, 'de-AT,de;q=0.9,en;q=0.8', 'de'],
    [null, 'en;q=0.5, fr;q=0.8', 'fr'],
    [null, 'sv, nl;q=0.5', 'nl'],
    [null, 'de;q=0, fr', 'fr'],
    [null, 'pt', 'pt-BR'],
    [null, 'pt-PT', 'pt-BR'],
    [null, 'zh', 'zh-Hans'],
    [null, 'zh-CN', 'zh-Hans'],
    [null, 'zh-Hans-SG', 'zh-Hans'],
    [null, 'zh-Hant', 'en'],
    [null, 'zh-TW, zh;q=0.9', 'zh-Hans'],
    [null, 'zh-Hant-HK, ja;q=0.5', 'ja'],
    [null, 'AR-eg', 'ar'],
    [null, '*', 'en'],
    [null, ';;;,,,q=1', 'en'],
    [null, 'constructor, __proto__', 'en'],
    ['ja', 'de', 'ja'],
    ['de-CH', undefined, 'de'],
    ['sv', 'de', 'de'],
    ['zh-Hant', 'de', 'de'],
  ] as const) {
    it(`chooses ${expected} for ${requested ?? 'no request'} and ${header ?? 'no header'}`, () => {
      expect(chooseLanguage(requested, header)).to.equal(expected);
    });
  }

  it('takes limited time for a long header', () => {
    expect(chooseLanguage(null, 'xx,'.repeat(100_000))).to.equal('en');
  });
});
