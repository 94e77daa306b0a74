import { expect } from 'chai';
import fc from 'fast-check';
import { readXml, textAt } from '../../../core/trusted-idp/xml.ts';

describe('reading an XML response', () => {
  it('accepts elements, text, the five entities, character references and attributes', () => {
    const text = `<?xml version="1.0" encoding="UTF-8"?>
      <a xmlns="https://x.example/" b='1' >
        <b>1 &lt; 2 &amp;&amp; 3 &gt; 2 &quot;&apos; &#252;&#x1F511;</b>
        <c/><c id="2"></c >
      </a>
    `;
    const root = readXml(text);
    expect(root?.name).to.equal('a');
    expect(root?.children.map(({ name }) => name)).to.deep.equal(['b', 'c', 'c']);
    expect(textAt(root, 'b')).to.equal('1 < 2 && 3 > 2 "\' ü🔑');
  });

  const refused: [string, string][] = [
    ['a document type', '<!DOCTYPE a><a/>'],
    ['a declared entity', '<!DOCTYPE a [<!ENTITY x "boom">]><a>&x;</a>'],
    ['an outside entity', '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'],
    ['an unknown entity', '<a>&nbsp;</a>'],
    ['a lone ampersand', '<a>1 & 2</a>'],
    ['a character that XML does not have', '<a>&#0;</a>'],
    ['half of a pair', '<a>&#xD800;</a>'],
    ['CDATA', '<a><![CDATA[x]]></a>'],
    ['a comment', '<a><!-- x --></a>'],
    ['a processing instruction', '<a><?php x ?></a>'],
    ['a prefix', '<s:a/>'],
    ['text between elements', '<a>x<b/></a>'],
    ['text around the root', '<a/>x'],
    ['two roots', '<a/><b/>'],
    ['no root', '  '],
    ['nothing', ''],
    ['what is not closed', '<a><b></b>'],
    ['what is not opened', '<a/></a>'],
    ['what closes another', '<a><b></a></b>'],
    ['half of a mark', '<a><b'],
    ['an attribute without quotes', '<a b=1/>'],
    ['a mark in an attribute', '<a b="<"/>'],
    ['HTML', '<!doctype html><html><body>Hello<br></body></html>'],
    ['JSON', '{"a":1}'],
    ['depth', '<a>'.repeat(17) + '</a>'.repeat(17)],
    ['length', `<a>${'x'.repeat(64 * 1024)}</a>`],
  ];
  for (const [title, text] of refused) it(`refuses ${title}`, () => expect(readXml(text)).to.equal(undefined));

  it('finds a text by a path of unique names', () => {
    const root = readXml('<a><b><c>1</c></b><d><c>2</c></d><d><c>3</c></d></a>');
    expect(textAt(root, 'b', 'c')).to.equal('1');
    expect(textAt(root, 'd', 'c')).to.equal(undefined);
    expect(textAt(root, 'b')).to.equal(undefined);
    expect(textAt(root, 'x', 'c')).to.equal(undefined);
    expect(textAt(undefined, 'b')).to.equal(undefined);
  });

  it('returns every text that was written', () => {
    const escaped = (text: string) => text.replace(/[<>&"']/g, (mark) => `&#${mark.charCodeAt(0)};`);
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(textAt(readXml(`<a><b>${escaped(text)}</b></a>`), 'b')).to.equal(text);
      }),
    );
  });

  it('takes linear time for any input', () => {
    const marks = fc.array(
      fc.constantFrom('<', '>', '</', '/>', 'a', ' ', '=', '"', "'", '&', ';', '#', '!', '?', 'a="b"'),
      {
        maxLength: 200,
      },
    );
    fc.assert(fc.property(marks, (parts) => void readXml(parts.join(''))));
    for (const text of [
      `<a${' '.repeat(60_000)}`,
      `<a ${'b="c" '.repeat(10_000)}`,
      '<'.repeat(60_000),
      '&'.repeat(60_000),
    ]) {
      expect(readXml(text)).to.equal(undefined);
    }
  });
});
