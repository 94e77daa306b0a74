import { expect } from 'chai';
import { htmlToMarkdown } from '../../../core/tools/html-to-markdown.ts';

describe('HTML as Markdown', () => {
  const cases: [title: string, html: string, markdown: string][] = [
    [
      'headings and paragraphs',
      '<h2>On  call</h2><p>Who is\n called</p><p>When</p>',
      '## On call\n\nWho is called\n\nWhen',
    ],
    [
      'emphasis, code, links and pictures',
      '<p><strong>bold </strong>and <em>soft</em>, <code>a = 1</code>, <a href="https://a.example/b">here</a> <img src="https://a.example/p.png" alt="A picture"></p>',
      '**bold** and _soft_, `a = 1`, [here](https://a.example/b) ![A picture](https://a.example/p.png)',
    ],
    ['an address that would end its link', '<a href="/a (b)">x</a>', '[x](</a%20(b)>)'],
    [
      'a picture in the address by its text alone',
      '<p>x <img src="data:image/png;base64,AAAA" alt="logo"></p>',
      'x logo',
    ],
    [
      'lists within lists',
      '<ul><li>One<ol start="3"><li>Two</li><li>Three</li></ol></li><li><p>Four</p></li></ul>',
      '- One\n  3. Two\n  4. Three\n- Four',
    ],
    [
      'lists whose first number Markdown has not, from 1',
      '<ol start="-2"><li>a</li></ol><ol start="9007199254740991"><li>b</li></ol><ol start="9"><li>c</li><li>d</li></ol>',
      '1. a\n\n1. b\n\n9. c\n10. d',
    ],
    [
      'tables, whose cells are one line',
      '<table><tbody><tr><th>A</th><th>B|C</th></tr><tr><td><p>1</p><p>2</p></td><td></td></tr></tbody></table>',
      '| A | B\\|C |\n| --- | --- |\n| 1 2 |  |',
    ],
    [
      'code with its blanks and empty lines',
      '<pre><code>if x:\n\n\n    y  \nz</code></pre>',
      '```\nif x:\n\n\n    y  \nz\n```',
    ],
    ['code with a fence in it', '<pre>```</pre>', '~~~~\n```\n~~~~'],
    ['code in a list', '<ul><li>Do<pre>a\nb</pre></li></ul>', '- Do\n\n  ```\n  a\n  b\n  ```'],
    ['quotes', '<blockquote><p>one</p><p>two</p></blockquote>', '> one\n>\n> two'],
    ['entities and line breaks', '<p>a &amp; b &lt;c&gt;<br/>d</p>', 'a & b <c>\nd'],
    [
      'no scripts, styles and pictures of lines',
      '<p>a<script>b<p>c</script><style>d</style><svg><a>e</a></svg></p>',
      'a',
    ],
    ['the text of unknown elements', '<x:y><z><![CDATA[a < b]]></z></x:y>', 'a < b'],
    ['elements that are not closed', '<ul><li>a<li>b<p>c', '- a\n- b\n\n  c'],
    ['nothing', '', ''],
  ];
  for (const [title, html, markdown] of cases) {
    it(`writes ${title}`, () => {
      expect(htmlToMarkdown(html)).to.equal(markdown);
    });
  }

  it('keeps the texts of elements that are nested more deeply than it writes', () => {
    const levels = (name: string) => `${`<${name}>`.repeat(500)}inside${`</${name}>`.repeat(500)}`;
    for (const name of ['div', 'b', 'blockquote', 'table']) {
      expect(htmlToMarkdown(`<p>before</p>${levels(name)}<p>after</p>`), name).to.match(
        /^before[\s\S]*inside[\s\S]*after/,
      );
    }
  });

  it('leaves HTML with more than a thousand open elements as it is, because the parser would take quadratic time', () => {
    const opened = '<b>'.repeat(30_000);
    for (const html of [`${opened}${'</p>'.repeat(30_000)}`, `${opened}${'</i>'.repeat(30_000)}`, `<svg>${opened}`]) {
      expect(htmlToMarkdown(html) === html, html.slice(-4)).to.equal(true);
    }
    expect(htmlToMarkdown(`${'<b>'.repeat(900)}x`))
      .to.include('x')
      .and.not.include('<b>');
  });

  it('makes no text much longer, however lists and quotes are nested', () => {
    const lines = 'a<br>'.repeat(5_000);
    for (const start of ['<blockquote>', '<ul><li>', '<ol><li>', '<ol start="9007199254740991"><li>']) {
      const html = `${start.repeat(45)}x${lines}y`;
      expect(htmlToMarkdown(html).length, start).to.be.below(10 * html.length);
    }
  });

  it('takes no line break of code and no end of a cell from a text', () => {
    expect(htmlToMarkdown('<table><tr><td>a\u0001\u0002b</td></tr></table>')).to.equal('| ab |\n| --- |');
  });
});
