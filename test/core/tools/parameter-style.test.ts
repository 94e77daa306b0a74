import { expect } from 'chai';
import fc from 'fast-check';
import { headerText, queryPairs } from '../../../core/tools/parameter-style.ts';
import { renderRequest } from '../../../core/tools/request.ts';
import type { ToolParameter } from '../../../core/tools/tool.ts';
import { failureOf, prepared, toolOf } from './samples.ts';

const LIST = ['blue', 'black'];
const OBJECT = { R: 100, G: 200 };

function pairs(value: unknown, rules: Partial<ToolParameter> = {}): string {
  return [...queryPairs({ in: 'query', name: 'color', input: 'color', ...rules }, value)].join('&');
}

describe('A parameter with a style', () => {
  it('is written as the table of the OpenAPI standard shows', () => {
    expect([
      pairs('blue'),
      pairs(LIST),
      pairs(LIST, { explode: false }),
      pairs(OBJECT),
      pairs(OBJECT, { explode: false }),
      pairs(LIST, { style: 'spaceDelimited' }),
      pairs(LIST, { style: 'pipeDelimited' }),
      pairs(OBJECT, { style: 'pipeDelimited' }),
      pairs(OBJECT, { style: 'deepObject' }),
    ]).to.deep.equal([
      'color=blue',
      'color=blue&color=black',
      'color=blue,black',
      'R=100&G=200',
      'color=R,100,G,200',
      'color=blue%20black',
      'color=blue%7Cblack',
      'color=R%7C100%7CG%7C200',
      'color[R]=100&color[G]=200',
    ]);
  });

  it('nests brackets as deeply as the value', () => {
    const value = { range: { gte: 5 }, ids: ['a', 'b'], none: null };
    expect(pairs(value, { style: 'deepObject' })).to.equal('color[range][gte]=5&color[ids][0]=a&color[ids][1]=b');
  });

  it('is JSON if the API declares a media type', () => {
    expect(pairs({ a: [1] }, { content_type: 'application/json' })).to.equal('color=%7B%22a%22%3A%5B1%5D%7D');
  });

  it('keeps reserved characters only where they cannot end the value', () => {
    expect(pairs("a/b:c?d&e=f#g+h['i']", { allow_reserved: true })).to.equal("color=a/b:c?d%26e%3Df%23g%2Bh%5B'i'%5D");
  });

  it('is omitted without a value', () => {
    for (const value of [undefined, null, [], {}]) expect(pairs(value)).to.equal('');
  });

  it('never becomes more parameters than its value has members, for any texts', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.boolean(), (text, reserved) => {
        const query = pairs(text, { allow_reserved: reserved });
        const read = new URL(`https://x.example/?${query}`);
        expect([...read.searchParams.entries()]).to.deep.equal([['color', text.toWellFormed()]]);
        expect(read.hash).to.equal('');
      }),
    );
  });

  it('is written as a list in a header as it is in a path', () => {
    const parameter: ToolParameter = { in: 'header', name: 'X-Color', input: 'color' };
    expect([
      headerText(parameter, LIST),
      headerText(parameter, OBJECT),
      headerText({ ...parameter, explode: true }, OBJECT),
      headerText({ ...parameter, content_type: 'application/json' }, OBJECT),
      headerText(parameter, null),
    ]).to.deep.equal(['blue,black', 'R,100,G,200', 'R=100,G=200', '{"R":100,"G":200}', undefined]);
  });

  it('appears in the request of its tool, and a line break is rejected with the name of its input (E2)', () => {
    const tool = toolOf({
      request: {
        method: 'GET',
        path: '/things',
        parameters: [
          { in: 'query', name: '$top', input: 'top' },
          { in: 'header', name: 'X-Trace', input: 'trace' },
        ],
      },
    });
    const call = prepared({ tool, toolInput: { top: 5, trace: 't' } });
    const request = renderRequest(call, { parts: [], secrets: [] });
    expect([request.url, request.headers['x-trace']]).to.deep.equal([
      'https://api.acme.example/v1/things?%24top=5',
      't',
    ]);
    const failure = failureOf(() => prepared({ tool, toolInput: { trace: 'a\r\nb: c' } }));
    expect(failure.fields).to.deep.equal(['tool_input.trace']);
  });
});
