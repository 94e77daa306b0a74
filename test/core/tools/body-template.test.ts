import { expect } from 'chai';
import { ABSENT, renderTemplate } from '../../../core/tools/body-template.ts';
import { FileContent } from '../../../core/tools/file-content.ts';
import { encodeForm } from '../../../core/tools/form.ts';
import { RenderBudget } from '../../../core/tools/render-budget.ts';
import { failureOf } from './samples.ts';

function render(template: unknown, input: Record<string, unknown> = {}, account: Record<string, string> = {}): unknown {
  return renderTemplate(template, { input, account, budget: new RenderBudget() });
}

describe('A body template', () => {
  it('is plain JSON where it has no directive', () => {
    const template = { a: [1, 'x', null, true, {}], b: { c: [] } };
    expect(render(template)).to.deep.equal(template);
  });

  it('inserts inputs unchanged, also false, 0, empty and null', () => {
    const template = {
      a: { $input: 'a' },
      b: { $input: 'b' },
      c: { $input: 'c' },
      d: { $input: 'd' },
      e: { $input: 'e' },
    };
    const input = { a: false, b: 0, c: '', d: null, e: { $input: 'a', x: [1] } };
    expect(render(template, input)).to.deep.equal(input);
  });

  it('never interprets an input as a directive', () => {
    const hostile = { $literal: { $account: 'token' } };
    expect(render({ v: { $input: 'v' } }, { v: hostile }, { token: 'x' })).to.deep.equal({ v: hostile });
  });

  it('omits members whose inputs are absent', () => {
    const template = { title: { $input: 'title' }, tags: ['fixed', { $input: 'tag' }] };
    expect(render(template, { title: 't' })).to.deep.equal({ title: 't' });
    expect(render(template, { tag: 'x' })).to.deep.equal({ tags: ['fixed', 'x'] });
  });

  it('omits objects and lists whose inputs are all absent', () => {
    const template = { start: { time: { $input: 'start' }, kind: 'fixed' }, query: 'q', none: [{ $input: 'x' }] };
    expect(render(template)).to.equal(ABSENT);
    expect(render({ outer: template, fixed: 1, other: { $input: 'y' } }, { y: 2 })).to.deep.equal({
      fixed: 1,
      other: 2,
    });
    expect(render(template, { start: 'now' })).to.deep.equal({ start: { time: 'now', kind: 'fixed' }, query: 'q' });
  });

  it('does not find inherited members', () => {
    expect(
      render({ a: { $input: 'constructor' }, b: { $account: 'toString' }, c: { $input: 'c' } }, { c: 1 }),
    ).to.deep.equal({ c: 1 });
  });

  it('accepts account values, literals, joined lists, texts of parts and base64url', () => {
    const template = {
      sid: { $account: 'sid' },
      filter: { $literal: { $input: 'x' } },
      ids: { $join: { input: 'ids', separator: ';' } },
      name: { $concat: ['people/', { $input: 'id' }, '?', 7] },
      raw: { $base64url: { $input: 'text' } },
    };
    expect(render(template, { ids: ['a', 2], id: 'c1', text: 'ü?>' }, { sid: 'AC1' })).to.deep.equal({
      sid: 'AC1',
      filter: { $input: 'x' },
      ids: 'a;2',
      name: 'people/c1?7',
      raw: 'w7w_Pg',
    });
  });

  it('converts Markdown to HTML, or leaves it out', () => {
    const template = { value: { $html: { $input: 'markdown' } } };
    expect(render(template, { markdown: '**a** <b>' })).to.deep.equal({
      value: '<p><strong>a</strong> &lt;b&gt;</p>\n',
    });
    expect(render(template)).to.equal(ABSENT);
    expect(failureOf(() => render(template, { markdown: 'a'.repeat(30_000) }))).to.deep.equal({
      code: 'INVALID_TOOL_INPUT',
      fields: ['tool_input.markdown'],
    });
  });

  it('takes a member from one of two inputs, and names both if both are given', () => {
    const template = {
      $merge: [{ kind: 'page' }, { text: { $input: 'html' } }, { text: { $html: { $input: 'markdown' } } }],
    };
    expect(render(template, { html: '<p>a</p>' })).to.deep.equal({ kind: 'page', text: '<p>a</p>' });
    expect(render(template, { markdown: 'a' })).to.deep.equal({ kind: 'page', text: '<p>a</p>\n' });
    expect(failureOf(() => render(template, { html: 'a', markdown: 'b' }))).to.deep.equal({
      code: 'INVALID_TOOL_INPUT',
      fields: ['tool_input.markdown'],
    });
  });

  it('merges objects, and refuses an input that repeats a member set by the tool', () => {
    const template = { fields: { $merge: [{ title: { $input: 'title' } }, { $input: 'own' }] } };
    expect(render(template, { title: 'A', own: { field_1: 2 } })).to.deep.equal({ fields: { title: 'A', field_1: 2 } });
    expect(render(template, { own: { field_1: 2 } })).to.deep.equal({ fields: { field_1: 2 } });
    expect(render(template)).to.equal(ABSENT);
    for (const own of [{ title: 'B' }, ['x'], 'x']) {
      expect(failureOf(() => render(template, { title: 'A', own })).fields).to.deep.equal(['tool_input.own']);
    }
  });

  it('creates JSON that is valid in a header', () => {
    const text = render({ $json: { path: { $input: 'path' }, mode: 'add' } }, { path: '/ü\n\u{1f600}.txt' });
    expect(text).to.match(/^[\x20-\x7e]+$/);
    expect(JSON.parse(String(text))).to.deep.equal({ path: '/ü\n\u{1f600}.txt', mode: 'add' });
    expect(render({ $json: { path: { $input: 'path' } } })).to.equal(ABSENT);
  });

  it('creates lists of files, with the members of a file input', () => {
    const template = {
      $each: { files: 'files', template: { name: { $item: '/file_name' }, bytes: { $item: '/content_base64' } } },
    };
    const stored = new Map([['file_1', new FileContent('b.txt', 'text/plain', Buffer.from('B'))]]);
    const input = { files: [{ file_name: 'a.txt', content_base64: 'QQ==' }, { file_id: 'file_1' }] };
    const made = renderTemplate(template, { input, account: {}, budget: new RenderBudget(), files: stored });
    expect(JSON.parse(JSON.stringify(made))).to.deep.equal([
      { name: 'a.txt', bytes: 'QQ==' },
      { name: 'b.txt', bytes: 'Qg==' },
    ]);
    expect(render(template)).to.equal(ABSENT);
  });

  it('creates lists of lists', () => {
    const template = {
      attendees: { $each: { input: 'people', template: { email: { $item: '/mail' }, name: { $item: '/name' } } } },
    };
    expect(render(template, { people: [{ mail: 'a@b.example' }, { mail: 'c@d.example', name: 'C' }] })).to.deep.equal({
      attendees: [{ email: 'a@b.example' }, { email: 'c@d.example', name: 'C' }],
    });
    expect(render({ to: { $each: { input: 'ids', template: { id: { $item: '' } } } } }, { ids: ['x'] })).to.deep.equal({
      to: [{ id: 'x' }],
    });
    expect(render(template)).to.equal(ABSENT);
    expect(render(template, { people: [] })).to.deep.equal({ attendees: [] });
  });

  it('refuses a list item that contains the separator of the joined text', () => {
    expect(failureOf(() => render({ $join: { input: 'ids' } }, { ids: ['a,b'] })).fields).to.deep.equal([
      'tool_input.ids',
    ]);
    expect(failureOf(() => render({ $join: { input: 'ids' } }, { ids: [{}] })).fields).to.deep.equal([
      'tool_input.ids',
    ]);
    expect(failureOf(() => render({ $join: { input: 'ids' } }, { ids: 'a' })).fields).to.deep.equal(['tool_input.ids']);
  });
});

describe('A form body', () => {
  it('writes nested members with brackets', () => {
    const value = {
      amount: 5,
      metadata: { 'a b': 'x&y=z', 'k]': 1 },
      items: [{ price: 'p1', n: 2 }, { price: 'p2' }],
      on: true,
      off: null,
    };
    expect(encodeForm(value)).to.equal(
      'amount=5&metadata[a%20b]=x%26y%3Dz&metadata[k]]=1&items[0][price]=p1&items[0][n]=2&items[1][price]=p2&on=true&off=',
    );
  });

  it('writes lists in the form that the API expects', () => {
    expect(encodeForm({ to: ['a', 'b'] })).to.equal('to[0]=a&to[1]=b');
    expect(encodeForm({ to: ['a', 'b'] }, 'brackets')).to.equal('to[]=a&to[]=b');
    expect(encodeForm({ to: ['a', 'b'] }, 'repeat')).to.equal('to=a&to=b');
    expect(encodeForm({ to: [{ x: 1 }] }, 'repeat')).to.equal('to[0][x]=1');
  });

  it('cannot be extended with parameters by a value', () => {
    const parsed = new URLSearchParams(encodeForm({ text: 'a&admin=1', 'x&y': '+%\r\n' }));
    expect([...parsed]).to.deep.equal([
      ['text', 'a&admin=1'],
      ['x&y', '+%\r\n'],
    ]);
  });
});
