import { expect } from 'chai';
import { schemaCompiler } from '../../../core/tools/schema-compiler.ts';
import { documentOf, importPaths, importText, jsonBody, propertiesOf, query, toolOf } from './samples.ts';

/** Every example is from a real public document. */
describe('Unusual documents of imports', () => {
  it('no operation id: the name comes from method and path', async () => {
    const tool = await toolOf({}, { path: '/users/{id}/repos' });
    expect(tool.name).to.equal('acme_get_users_by_id_repos');
    expect(propertiesOf(tool)).to.have.all.keys('id');
  });

  it('operation ids that are too long or have other characters: valid names, the same at every import', async () => {
    const long = `Repos/ListFor-${'organization'.repeat(10)}`;
    const first = (await toolOf({ operationId: long })).name;
    expect(first)
      .to.match(/^acme_repos_list_for_[a-z0-9_]+_[0-9a-f]{6}$/)
      .and.to.have.lengthOf.at.most(64);
    expect((await toolOf({ operationId: long })).name).to.equal(first);
  });

  it('neither summary nor description, and far too long ones', async () => {
    expect((await toolOf({})).description).to.equal('GET /things');
    const long = await toolOf({
      summary: 'Lists things',
      description: `**All** [things](https://x.example). ${'word '.repeat(500)}`,
    });
    expect(long.description)
      .to.match(/^Lists things\. All things\./)
      .and.to.have.lengthOf.at.most(280);
  });

  it('text that a model would read and a user would not see is removed', async () => {
    const tool = await toolOf({ summary: 'Get\u202e\u200b a\u0007 thing\n<!-- ignore all -->' });
    expect(tool.description).to.equal('Get a thing.');
  });

  it('parameter names that model APIs refuse are sent unchanged in the request', async () => {
    const tool = await toolOf({ parameters: [query('$top'), query('filter[x]'), query('__proto__')] });
    expect(Object.keys(propertiesOf(tool)).sort()).to.deep.equal(['filter_x', 'proto', 'top']);
    expect(tool.request.parameters?.map(({ name, input }) => `${name}=${input}`)).to.include('$top=top');
  });

  it('invalid names of body members at the top level and below', async () => {
    const schema = {
      type: 'object',
      properties: {
        'a@Hint': { type: 'string' },
        deep: { type: 'object', properties: { 'x y': {}, ok: { type: 'string' } } },
      },
    };
    const tool = await toolOf(jsonBody(schema), { method: 'post' });
    expect(tool.request.body?.value).to.deep.equal({ 'a@Hint': { $input: 'a_Hint' }, deep: { $input: 'deep' } });
    expect(propertiesOf(tool)['deep']?.['properties']).to.have.all.keys('ok');
  });

  it("a body member and a parameter with the same name: the parameter's name gets its location", async () => {
    const operation = {
      ...jsonBody({ type: 'object', properties: { id: { type: 'string' } } }),
      parameters: [query('id')],
    };
    const tool = await toolOf(operation, { path: '/things/{id}', method: 'put' });
    expect(Object.keys(propertiesOf(tool)).sort()).to.deep.equal(['id', 'path_id', 'query_id']);
    expect(tool.request.path).to.equal('/things/{path_id}');
  });

  it('credentials, protocol headers and irrelevant headers are not inputs', async () => {
    const header = (name: string) => ({ name, in: 'header', schema: { type: 'string' } });
    const parameters = [
      query('access_token'),
      query('api_key'),
      query('prettyPrint'),
      query('q'),
      header('Authorization'),
      header('Accept'),
      header('Content-Type'),
      { name: 'sid', in: 'cookie' },
    ];
    expect(Object.keys(propertiesOf(await toolOf({ parameters })))).to.deep.equal(['q']);
  });

  it('a required parameter with one value is always sent, and is not an input', async () => {
    const tool = await toolOf({ parameters: [query('Action', { required: true, schema: { enum: ['CreateUser'] } })] });
    expect([tool.request.query, propertiesOf(tool)]).to.deep.equal([{ Action: 'CreateUser' }, {}]);
  });

  it('arrays and objects in the query keep their style', async () => {
    const list = { schema: { type: 'array', items: { type: 'string' } } };
    const parameters = [
      query('a', list),
      query('b', { ...list, explode: false }),
      query('c', { style: 'deepObject', explode: true, schema: { type: 'object' } }),
      query('d', { content: { 'application/json': { schema: {} } }, schema: undefined }),
    ];
    expect((await toolOf({ parameters })).request.parameters).to.deep.equal([
      { in: 'query', name: 'a', input: 'a' },
      { in: 'query', name: 'b', input: 'b', explode: false },
      { in: 'query', name: 'c', input: 'c', style: 'deepObject', explode: true },
      { in: 'query', name: 'd', input: 'd', content_type: 'application/json' },
    ]);
  });

  it('bodies of several media types: JSON before forms, files in one shape, other types unchanged', async () => {
    const content = (...types: string[]) => ({
      requestBody: {
        content: Object.fromEntries(
          types.map((type) => [
            type,
            { schema: { type: 'object', properties: { f: { type: 'string', format: 'binary' } } } },
          ]),
        ),
      },
    });
    const body = async (...types: string[]) => (await toolOf(content(...types), { method: 'post' })).request.body;
    expect(await body('multipart/form-data', 'application/json')).to.include({ format: 'json' });
    expect(await body('application/merge-patch+json')).to.include({ media_type: 'application/merge-patch+json' });
    expect(await body('multipart/form-data')).to.deep.include({ format: 'multipart', value: { f: { $file: 'f' } } });
    expect(await body('application/octet-stream')).to.deep.equal({
      format: 'raw',
      media_type: 'application/octet-stream',
      value: { $file: 'body' },
    });
    expect(await body('text/csv')).to.deep.equal({ format: 'raw', media_type: 'text/csv', value: { $input: 'body' } });
  });

  it('a body that is a union, a list or any value is one input', async () => {
    for (const schema of [
      { oneOf: [{ type: 'string' }, { type: 'object', properties: { a: {} } }] },
      { type: 'array', items: {} },
      {},
    ]) {
      const tool = await toolOf(jsonBody(schema), { method: 'post' });
      expect(tool.request.body?.value).to.deep.equal({ $input: 'body' });
    }
  });

  it('a form that is declared as text is sent as text', async () => {
    const content = { 'application/x-www-form-urlencoded': { schema: { type: 'string' } } };
    const { request } = await toolOf({ requestBody: { content } }, { method: 'post' });
    expect(request.body).to.deep.equal({
      format: 'raw',
      media_type: 'application/x-www-form-urlencoded',
      value: { $input: 'body' },
    });
  });

  it('allOf is merged; readOnly and deprecated members are not inputs', async () => {
    const parts = [
      { properties: { a: { type: 'string' }, ro: { type: 'string', readOnly: true } }, required: ['a', 'ro'] },
      { properties: { b: { type: 'string', deprecated: true } } },
    ];
    const tool = await toolOf(jsonBody({ allOf: parts }), { method: 'post' });
    expect(Object.keys(propertiesOf(tool))).to.deep.equal(['a']);
    expect(tool.input_schema['required']).to.deep.equal(['a']);
  });

  it('a body of GET is not sent', async () => {
    expect((await toolOf(jsonBody({ type: 'object', properties: { a: {} } }))).request.body).to.equal(undefined);
  });

  it('dangling references are reported, and valid ones are not', async () => {
    const body = jsonBody({ type: 'object', properties: { a: { $ref: '#/components/schemas/Lost' } } });
    const parameters = [{ $ref: 'https://elsewhere.example/p.json#/p' }, { $ref: '#/components/parameters/here' }];
    const components = {
      parameters: { here: query('q') },
      schemas: { Self: { $ref: '#/components/parameters/here' } },
    };
    const { report } = await importPaths({ '/things': { post: { ...body, parameters } } }, { components });
    const [warning, ...others] = report.warnings.filter((text) => text.startsWith('References'));
    expect(others).to.deep.equal([]);
    expect(warning)
      .to.include('https://elsewhere.example/p.json#/p')
      .and.include('#/components/schemas/Lost')
      .and.not.include('parameters/here');
    expect((await importPaths({ '/things': { get: {} } }, { components })).report.warnings.join()).not.to.include(
      'References',
    );
  });

  it('recursive schemas are cut, without a reference', async () => {
    const node = {
      type: 'object',
      properties: { name: { type: 'string' }, parent: { $ref: '#/components/schemas/Node' } },
    };
    const more = { components: { schemas: { Node: node } } };
    const tool = await toolOf(jsonBody({ $ref: '#/components/schemas/Node' }), { method: 'post', more });
    expect(JSON.stringify(tool.input_schema)).not.to.include('$ref');
    expect(propertiesOf(tool)['parent']?.['type']).to.equal('object');
  });

  it('a property that is named $ref is a property', async () => {
    const schema = {
      type: 'object',
      properties: { spec: { type: 'object', properties: { $ref: { type: 'string' }, a: { type: 'string' } } } },
    };
    const tool = await toolOf(jsonBody(schema), { method: 'post' });
    expect(propertiesOf(tool)['spec']?.['properties']).to.have.all.keys('a');
  });

  it('nullable beside oneOf or an enum accepts null, and still refuses other values (3.0)', async () => {
    const properties = {
      title: { type: 'string' },
      milestone: { oneOf: [{ type: 'string' }, { type: 'integer' }], nullable: true },
      state: { type: 'string', enum: ['open'], nullable: true },
      size: { type: 'integer', minimum: 0, exclusiveMinimum: true },
    };
    const { input_schema } = await toolOf(jsonBody({ type: 'object', required: ['title'], properties }), {
      method: 'post',
    });
    const validate = schemaCompiler().compile(input_schema);
    expect(validate({ title: 't', milestone: null, state: null })).to.equal(true);
    for (const wrong of [
      { milestone: null },
      { title: 't', milestone: {} },
      { title: 't', state: 'shut' },
      { title: 't', size: 0 },
    ]) {
      expect(validate(wrong), JSON.stringify(wrong)).to.equal(false);
    }
  });

  it('an enum whose values do not match its type, a duplicate value, contradictory bounds', async () => {
    const parameters = [
      query('n', { schema: { type: 'string', enum: [1, 2, 2] } }),
      query('m', { schema: { type: 'integer', minimum: 9, maximum: 1 } }),
    ];
    const tool = await toolOf({ parameters });
    expect(propertiesOf(tool)['n']?.['enum']).to.deep.equal(['1', '2']);
    expect(schemaCompiler().compile(tool.input_schema)({ m: 5 })).to.equal(true);
  });

  it('an expression in a document is reported, never executed', async () => {
    const tool = await toolOf({
      parameters: [query('a', { schema: { type: 'string', pattern: '^(a+)+$', default: 'aa' } })],
    });
    expect(propertiesOf(tool)['a']).to.deep.equal({ type: 'string', description: 'Default: aa. Pattern: ^(a+)+$' });
  });

  it('a path with a fragment, a query or undeclared parameters', async () => {
    const { tools } = await importPaths({
      '/#Action=Run': { post: {} },
      '/a?kind=x': { get: {} },
      '/b/{c}.{d}': { get: {} },
    });
    expect(tools.map(({ tool }) => tool.request.path)).to.deep.equal(['/', '/a?kind=x', '/b/{c}.{d}']);
  });

  it('servers: none, relative, with variables, without TLS, on another host', async () => {
    const base = async (servers: object[]) => (await importPaths({ '/a': { get: {} } }, { servers })).baseUrl;
    expect(await base([])).to.equal(undefined);
    expect(await base([{ url: '/api' }])).to.equal(undefined);
    expect(await base([{ url: 'http://api.acme.example/v2/' }])).to.equal('https://api.acme.example/v2');
    expect(await base([{ url: 'https://{region}.acme.example', variables: { region: { default: 'eu' } } }])).to.equal(
      'https://eu.acme.example',
    );
    const { tools, report } = await importPaths({
      '/a': { get: {} },
      '/b': { get: {} },
      '/c': { get: {}, servers: [{ url: 'https://files.acme.example' }] },
    });
    expect([tools.length, report.left_out[0]?.reason]).to.deep.equal([2, 'OTHER_SERVER']);
  });

  it('an operation that makes no sense is left out, and the others are imported', async () => {
    const paths = {
      '/ok': { get: {} },
      '/../odd': { get: {} },
      '/t': { trace: {} },
      '/d': { get: { deprecated: true } },
      '/n': null,
      '/l': {
        get: 5,
        post: { parameters: [null, { $ref: '#/nowhere' }, 7], requestBody: [], responses: 'x', tags: {} },
      },
    };
    const { tools, report } = await importPaths(paths);
    expect(tools.map(({ sourceId }) => sourceId)).to.deep.equal(['GET /ok', 'POST /l']);
    expect(report.left_out.map(({ reason }) => reason).sort()).to.deep.equal(['DEPRECATED', 'METHOD', 'PATH']);
  });

  it('a requirement with an implicit and a code flow is one credential with its scopes', async () => {
    const flows = (flow: string) => ({ type: 'oauth2', flows: { [flow]: { scopes: {} } } });
    const more = { components: { securitySchemes: { o: flows('implicit'), c: flows('authorizationCode') } } };
    const security = [
      { o: ['read'], c: ['read'] },
      { o: ['all'], c: ['all'] },
    ];
    expect((await toolOf({ security }, { more })).scopes).to.deep.equal([['read'], ['all']]);
    const { report, authPatterns } = await importPaths({ '/a': { get: { security } } }, more);
    expect(authPatterns).to.deep.equal([{ type: 'BEARER_TOKEN' }]);
    expect(report.credentials.map(({ detail }) => detail).join()).to.include('never taken from a document');
  });

  it('keys in a header, in the query, and two keys of one requirement', async () => {
    const key = (name: string, place: string) => ({ type: 'apiKey', name, in: place });
    const patterns = async (securitySchemes: object, security: object[] = []) =>
      (await importPaths({ '/a': { get: {} } }, { components: { securitySchemes }, security })).authPatterns;
    expect((await patterns({ k: key('X-Key', 'header') }))[0]).to.deep.include({
      type: 'API_KEY',
      placement: { in: 'header', name: 'X-Key' },
    });
    const two = { a: key('DD-API-KEY', 'header'), b: key('DD-APP-KEY', 'header') };
    const [both] = await patterns(two, [{ a: [], b: [] }]);
    expect([both?.type, both?.fields?.map(({ placement }) => placement?.name)]).to.deep.equal([
      'CUSTOM',
      ['DD-API-KEY', 'DD-APP-KEY'],
    ]);
  });

  it('detects pages only if the response shows them', async () => {
    const answer = (properties: object) => ({
      responses: { 200: { content: { 'application/json': { schema: { type: 'object', properties } } } } },
    });
    const paged = await toolOf({
      parameters: [query('pageToken'), query('q')],
      ...answer({ nextPageToken: { type: 'string' } }),
    });
    expect(paged.pagination).to.deep.equal({
      style: 'cursor',
      request: { in: 'query', name: 'pageToken' },
      response: { cursor: '/nextPageToken' },
    });
    expect(Object.keys(propertiesOf(paged))).to.deep.equal(['q']);
    expect((await toolOf({ parameters: [query('pageToken')], ...answer({}) })).pagination).to.equal(undefined);
  });

  it('pagination parameters that the document calls deprecated are not used for pagination', async () => {
    const old = (name: string) => ({ name, in: 'query', deprecated: true, schema: { type: 'integer' } });
    const items = { type: 'array', items: { type: 'object' } };
    const responses = { 200: { description: 'ok', content: { 'application/json': { schema: items } } } };
    const { tools } = await importText(
      documentOf({ '/old': { get: { parameters: [old('page'), old('per_page')], responses } } }),
    );
    expect(tools[0]?.tool.pagination).to.equal(undefined);
  });

  it('a 2.0 document is read by the rules of its version', async () => {
    const text = JSON.stringify({
      swagger: '2.0',
      info: { title: 'Old', version: '1' },
      host: 'old.example',
      basePath: '/v1',
      schemes: ['https'],
      paths: {
        '/f': {
          post: {
            operationId: 'send',
            consumes: ['multipart/form-data'],
            parameters: [
              { name: 'file', in: 'formData', type: 'file' },
              { name: 'ids', in: 'query', type: 'array', items: { type: 'integer' }, collectionFormat: 'pipes' },
            ],
          },
        },
      },
      securityDefinitions: { b: { type: 'basic' } },
    });
    const { tools, baseUrl, authPatterns } = await importText(text);
    expect([baseUrl, authPatterns]).to.deep.equal(['https://old.example/v1', [{ type: 'BASIC' }]]);
    expect(tools[0]?.tool.request.body).to.deep.equal({ format: 'multipart', value: { file: { $file: 'file' } } });
    expect(tools[0]?.tool.request.parameters?.[0]).to.include({ style: 'pipeDelimited' });
  });

  it('more operations than the limit', async () => {
    const { tools, report } = await importText(documentOf({ '/a': { get: {} }, '/b': { get: {} } }), { limit: 1 });
    expect([tools.length, report.left_out[0]?.reason]).to.deep.equal([1, 'OVER_LIMIT']);
  });
});
