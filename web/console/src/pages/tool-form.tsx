import { Validator as SchemaValidator } from '@cfworker/json-schema';
// Imported from its own file, because the index of the package also exports a helper for tests, which needs another
// package.
import Form from '@rjsf/core/lib/components/Form.js';
import type {
  ArrayFieldItemTemplateProps,
  FieldProps,
  IconButtonProps,
  RJSFSchema,
  UiSchema,
  ValidationData,
  ValidatorType,
} from '@rjsf/utils';
import { toErrorSchema } from '@rjsf/utils';
import { useState } from 'react';

/** A form for the input of a tool, made from its schema. */

const DRAFT = '2020-12';

/**
 * Validates with an interpreter of JSON Schema: a compiler would need `eval`, which the policy of the page does not
 * allow. The server validates again.
 */
const VALIDATOR: ValidatorType = {
  isValid: (schema, data) => new SchemaValidator(schema as object, DRAFT).validate(data).valid,
  rawValidation: (schema, data) => ({
    errors: new SchemaValidator(schema as object, DRAFT).validate(data).errors as never,
  }),
  validateFormData(data, schema): ValidationData<unknown> {
    const { errors } = new SchemaValidator(schema as object, DRAFT, false).validate(data);
    const found = errors
      .filter(({ keyword }) => !['properties', 'items', 'additionalProperties', 'anyOf'].includes(keyword))
      .map(({ instanceLocation, keyword, error }) => {
        const place = instanceLocation.replace(/^#\/?/, '').replaceAll('/', '.');
        const [, quoted = ''] = /"([^"]*)"\.$/.exec(error) ?? [];
        if (keyword === 'required')
          return problem([place, quoted].filter(Boolean).join('.'), 'This value is required.');
        return problem(place, keyword === 'type' ? `The value must be of the type ${quoted}.` : error);
      });
    return { errors: found, errorSchema: toErrorSchema(found) };
  },
  reset() {},
};

function problem(property: string, message: string) {
  return { property, message, stack: message };
}

type Schema = RJSFSchema & { properties?: Record<string, Schema>; items?: Schema | Schema[] };

/** Whether a value is entered as JSON, because a form cannot show it: a value or list without a type, or a map. */
function needsJson(schema: Schema): boolean {
  if (schema.enum || schema.anyOf) return false;
  if (schema.type === undefined) return true;
  if (schema.type === 'array') return schema.items === undefined || (schema.items as Schema).type === undefined;
  return schema.type === 'object' && Object.keys(schema.properties ?? {}).length === 0;
}

function uiSchemaOf(schema: Schema): UiSchema {
  const own: UiSchema = needsJson(schema) ? { 'ui:field': 'json' } : {};
  if ((schema.maxLength ?? 0) > 500) own['ui:widget'] = 'textarea';
  for (const [name, part] of Object.entries(schema.properties ?? {})) own[name] = uiSchemaOf(part);
  if (schema.items && !Array.isArray(schema.items)) own['items'] = uiSchemaOf(schema.items);
  return own;
}

function JsonField({ schema, formData, onChange, fieldPathId, name, required }: FieldProps) {
  const [text, setText] = useState(formData === undefined ? '' : JSON.stringify(formData, null, 2));
  const [isWrong, setIsWrong] = useState(false);
  const id = fieldPathId.$id;
  const change = (value: string) => {
    setText(value);
    try {
      onChange(value.trim() === '' ? undefined : JSON.parse(value), fieldPathId.path);
      setIsWrong(false);
    } catch {
      setIsWrong(true);
    }
  };
  return (
    <div className="field">
      <label htmlFor={id}>
        {schema.title ?? name}
        {required && '*'} (JSON)
      </label>
      {schema.description && <p className="field-description">{schema.description}</p>}
      <textarea id={id} value={text} spellCheck={false} onChange={({ target }) => change(target.value)} />
      {isWrong && <p className="errors">This is not JSON yet.</p>}
    </div>
  );
}

const iconButton = (label: string) =>
  function IconButton({ onClick, disabled, id, className = '' }: IconButtonProps) {
    return (
      <button type="button" className={`button plain ${className}`} id={id} onClick={onClick} disabled={disabled}>
        {label}
      </button>
    );
  };

/** One value of a list, with its buttons beside or below it. */
function ArrayItem({ children, buttonsProps, hasToolbar, registry }: ArrayFieldItemTemplateProps) {
  const Buttons = registry.templates.ArrayFieldItemButtonsTemplate;
  return (
    <div className="array-item">
      <div>{children}</div>
      {hasToolbar && (
        <div className="actions">
          <Buttons {...buttonsProps} />
        </div>
      )}
    </div>
  );
}

const TEMPLATES = {
  ArrayFieldItemTemplate: ArrayItem,
  ButtonTemplates: {
    AddButton: iconButton('Add'),
    RemoveButton: iconButton('Remove'),
    MoveUpButton: iconButton('Move up'),
    MoveDownButton: iconButton('Move down'),
    CopyButton: iconButton('Duplicate'),
    ClearButton: iconButton('Clear'),
    SubmitButton: () => null,
  },
} as never;

/** Only entered values are sent, because the provider applies its own defaults. */
const AS_TYPED = { emptyObjectFields: 'skipDefaults', constAsDefaults: 'never' } as const;

export interface ToolFormProps {
  schema: object;
  value: Record<string, unknown>;
  onChange(value: Record<string, unknown>): void;
}

export default function ToolForm({ schema, value, onChange }: ToolFormProps) {
  const { title: _title, description: _description, ...untitled } = schema as Schema;
  return (
    <div className="tool-form">
      <Form
        tagName="div"
        schema={untitled}
        uiSchema={uiSchemaOf(untitled)}
        formData={value}
        validator={VALIDATOR}
        fields={{ json: JsonField }}
        templates={TEMPLATES}
        experimental_defaultFormStateBehavior={AS_TYPED}
        liveValidate="onBlur"
        showErrorList={false}
        noHtml5Validate
        idPrefix="input"
        onChange={({ formData }) => onChange((formData ?? {}) as Record<string, unknown>)}
      >
        <span />
      </Form>
    </div>
  );
}
