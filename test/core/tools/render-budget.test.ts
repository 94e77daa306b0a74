import { expect } from 'chai';
import { TOOL_REQUEST } from '../../../core/budgets.ts';
import { FileContent } from '../../../core/tools/file-content.ts';
import { encodeForm } from '../../../core/tools/form.ts';
import { encodeMultipart } from '../../../core/tools/multipart.ts';
import { RenderBudget } from '../../../core/tools/render-budget.ts';
import type { ToolBody, ToolRequest } from '../../../core/tools/tool.ts';
import { failureOf, prepared, toolOf, writingTool } from './samples.ts';

/** A tenth of the characters that an input may have. */
const LONG = 'n'.repeat(20_000);
/** Many items, each so short that all of them together with one long text are still a valid input. */
const MANY = Array.from({ length: 20_000 }, () => 0);

const bodyOf = (body: ToolBody) => writingTool({ request: { method: 'POST', path: '/things', body } });
const refuses = (run: () => unknown) => expect(failureOf(run).code).to.equal('INVALID_TOOL_INPUT');

describe('RenderBudget (H4)', () => {
  it('accepts requests within the limits', () => {
    const { draft } = prepared({
      tool: bodyOf({
        format: 'json',
        value: { list: { $each: { input: 'list', template: { item: { $item: '' } } } } },
      }),
      toolInput: { list: [1, 2] },
    });
    expect(draft?.body?.content).to.equal('{"list":[{"item":1},{"item":2}]}');
    expect(encodeForm({ [LONG]: [1, 2] }, 'repeat')).to.equal(`${LONG}=1&${LONG}=2`);
  });

  it('H4: refuses a query in which a long name is repeated for each item of a list', () => {
    const free: ToolRequest = { method: 'GET', path: '/things', query_input: 'free' };
    refuses(() => prepared({ tool: toolOf({ request: free }), toolInput: { free: { [LONG]: MANY } } }));
    refuses(() => prepared({ tool: toolOf({ request: free }), toolInput: { free: { n: MANY } } }));
    const long = LONG.slice(0, 500);
    for (const parameter of [
      { in: 'query', name: long, input: 'list' },
      { in: 'query', name: long, input: 'list', style: 'deepObject' },
    ] as const) {
      const request: ToolRequest = { method: 'GET', path: '/things', parameters: [parameter] };
      refuses(() => prepared({ tool: toolOf({ request }), toolInput: { list: MANY } }));
    }
  });

  it('H4: refuses a request that converts much Markdown in many texts', () => {
    const tool = bodyOf({
      format: 'json',
      value: { list: { $each: { input: 'list', template: { $html: { $item: '' } } } } },
    });
    const table = `${'|a'.repeat(20)}\n${'|-'.repeat(20)}\n${'|\n'.repeat(500)}`;
    expect(prepared({ tool, toolInput: { list: ['a', 'b'] } }).draft?.body?.content).to.equal(
      '{"list":["<p>a</p>\\n","<p>b</p>\\n"]}',
    );
    refuses(() => prepared({ tool, toolInput: { list: Array.from({ length: 40 }, () => table) } }));
    refuses(() => prepared({ tool, toolInput: { list: ['a'.repeat(TOOL_REQUEST.markdownChars), 'b'] } }));
  });

  it('H4: refuses an address that a list makes too long', () => {
    for (const path of [`/things{?${LONG.slice(0, 500)}*}`, '/things{/list*}', '/things/{list}']) {
      const name = path.includes('list') ? 'list' : LONG.slice(0, 500);
      refuses(() => prepared({ tool: toolOf({ request: { method: 'GET', path } }), toolInput: { [name]: MANY } }));
    }
  });

  it('H4: refuses a form and parts in which a long name is repeated', () => {
    const limit = LONG.length * 10;
    refuses(() => encodeForm({ [LONG]: MANY }, 'repeat', new RenderBudget(limit)));
    refuses(() => encodeForm({ [LONG]: { a: MANY } }, 'indices', new RenderBudget(limit)));
    refuses(() => encodeMultipart({ [LONG]: MANY }, {}, new RenderBudget(limit)));
    for (const format of ['form', 'multipart'] as const) {
      const tool = bodyOf({ format, value: { $input: 'free' } });
      refuses(() => prepared({ tool, toolInput: { free: { [LONG.repeat(5)]: MANY.slice(0, 15_000) } } }));
    }
  });

  it('H4: refuses a template that repeats a long text for each item', () => {
    const each = (template: unknown) => bodyOf({ format: 'json', value: { $each: { input: 'list', template } } });
    const toolInput = { list: MANY, text: LONG };
    for (const template of [
      { text: { $input: 'text' } },
      { $concat: ['x', { $input: 'text' }] },
      { $base64: { $input: 'text' } },
      { all: { $input: 'list' } },
      { all: { $join: { input: 'list', separator: LONG } } },
      Array.from({ length: 20 }, () => ({ $literal: 0 })),
    ]) {
      refuses(() => prepared({ tool: each(template), toolInput }));
    }
  });

  it('H4: counts a file each time it is named', () => {
    const file = new FileContent('a', undefined, Buffer.alloc(TOOL_REQUEST.bodyBytes / 4));
    expect(encodeMultipart({ files: [file, file] }).bytes.length).to.be.above(2 * file.bytes.length);
    refuses(() => encodeMultipart({ files: Array.from({ length: 5 }, () => file) }));
    expect(() => new RenderBudget().value({ a: [file, file, file, file, file] })).to.throw('more than 33554432 bytes');
  });
});
