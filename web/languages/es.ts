import type { Messages } from './messages.ts';

/** Spanish. */
export const es: Messages = {
  // Header and footer of every page
  'brand.keeps_safe': '{application} usa Valetkey para protegerlo.',
  'brand.kept_safe': 'Protegido por Valetkey.',
  'brand.support': 'Ayuda',
  'brand.privacy': 'Privacidad',
  'brand.terms': 'Condiciones',
  'brand.back': 'Volver a {application}',
  'brand.back_unnamed': 'Volver a la aplicación',

  // The page of a link
  'link.title': 'Conectar {provider}',
  'link.title_with_problems': 'Error: conectar {provider}',
  'link.asks': '{application} solicita acceso a su cuenta de {provider}.',
  'link.account': 'Para',
  'link.address': 'En',
  'link.scopes': 'Lo que podrá hacer {application}',
  'link.scopes_unknown': 'La página siguiente indica lo que comparte.',
  'link.scopes_read': 'Leer',
  'link.scopes_write': 'Crear y modificar',
  'link.scopes_delete': 'Eliminar',
  'link.can_delete': 'puede eliminar datos',
  'link.continue': 'Continuar a {provider}',
  'link.connect': 'Conectar',
  'link.cancel': 'Cancelar',
  'link.consent_note':
    'Inicia sesión en {provider}. Nunca vemos su contraseña de {provider}. Puede revocar el acceso en {provider} en cualquier momento.',
  'link.form_note': 'Lo que escriba se guarda cifrado y solo se usa para acceder a su cuenta.',
  'link.key_page': 'Obtener en {provider}',
  'link.new_tab': '(se abre en una pestaña nueva)',
  'link.not_you':
    '¿No es {identifier} o no esperaba esto? Elija «Cancelar» o cierre esta página. No se compartirá nada.',
  'link.minutes_left': {
    one: 'Este enlace funciona un minuto más.',
    many: 'Este enlace funciona {count} de minutos más.',
    other: 'Este enlace funciona {count} minutos más.',
  },

  // Fields and what is wrong with them
  'field.optional': '(opcional)',
  'field.show': 'Mostrar',
  'field.hide': 'Ocultar',
  'field.paste': 'Pegar',
  'field.choose': 'Elegir',
  'problem.summary': {
    one: 'Corrija lo siguiente:',
    many: 'Corrija estos {count} de campos:',
    other: 'Corrija estos {count} campos:',
  },
  'problem.required': '{field}: es obligatorio.',
  'problem.format': '{field}: el formato no es válido.',
  'problem.choice': '{field}: no es una de las opciones.',
  'problem.too_long': '{field}: es demasiado largo.',
  'problem.control': '{field}: contiene caracteres invisibles. Cópielo de nuevo.',
  'problem.address': '{field}: no es una dirección permitida.',
  'problem.not_accepted': '{provider} no ha aceptado este dato: {field}. Compruebe que lo ha copiado entero.',

  // The token in the address of a page
  'token.title': 'Terminar de conectar {provider}',
  'token.heading': 'Falta un paso',
  'token.text':
    '{provider} ha puesto su token al final de la dirección de esta página. Si la página no continúa sola, cópielo desde allí en este campo.',
  'token.label': 'Token de {provider}',
  'token.hint': 'Todo lo que sigue al carácter # en la dirección de esta página.',
  'token.note': 'No comparta la dirección de esta página: contiene su token.',
  'token.required': 'Rellene el campo siguiente.',

  // Results
  'connected.title': 'Conectado',
  'connected.text': 'La cuenta está conectada. Puede cerrar esta página.',
  'waiting.title': 'Un paso más',
  'waiting.text': 'Vuelva a {application} para terminar.',
  'waiting.text_unnamed': 'Vuelva a la aplicación que le envió aquí para terminar.',
  'used.title': 'Ya se ha usado',
  'used.text': 'Este enlace ya se ha usado. Puede cerrar esta página.',
  'expired.title': 'Este enlace ha caducado',
  'expired.text': 'Los enlaces funcionan poco tiempo. Pida uno nuevo donde obtuvo este.',
  'stray.title': 'Este inicio de sesión ha caducado',
  'stray.text': 'Abra de nuevo el enlace en este navegador. No se ha compartido nada.',
  'stale.title': 'Abra el enlace de nuevo',
  'stale.text':
    'La página estuvo abierta demasiado tiempo o este navegador no guarda cookies. Las cookies son necesarias para traerle de vuelta de forma segura.',
  'refused.title': 'Sin conectar',
  'refused.text':
    'Ha rechazado la solicitud, o una política de su organización en {provider} no lo permite. No se ha compartido nada.',
  'fault.title': 'Algo ha fallado',
  'fault.text': 'La cuenta no se ha conectado. Inténtelo de nuevo en un momento.',
  'fault.unreachable':
    'No se ha podido contactar con {provider}. No se ha guardado nada. Inténtelo de nuevo en un momento.',
  'result.try_again': 'Intentar de nuevo',
  'result.reference': 'Referencia para la ayuda:',

  // The page on which a user lets an application use their accounts
  'access.title': '¿Permitir el acceso?',
  'access.unnamed': 'Una aplicación sin nombre',
  'access.asks': '{client} solicita acceso a sus cuentas.',
  'access.account': 'Sesión iniciada como',
  'access.client': 'Aplicación',
  'access.published_by': 'Publicada por {host}',
  'access.registered': 'Registrada por su administrador',
  'access.unverified': 'Se registró ella misma. Su nombre no está verificado.',
  'access.returns_to': 'Vuelve a',
  'access.local_warning':
    'Un programa de este equipo obtendrá acceso y su nombre no se puede verificar. Permítalo solo si acaba de iniciar usted mismo esta sesión.',
  'access.scopes': 'Lo que podrá hacer',
  'access.see_tools': 'Ver qué herramientas hay para {providers}',
  'access.see_own_tools': 'Ver qué herramientas hay para sus cuentas',
  'access.use_tools': 'Usar estas herramientas con sus cuentas: leer, crear, modificar y eliminar datos en ellas',
  'access.allow': 'Permitir',
  'access.cancel': 'Cancelar',
  'access.not_you': '¿No es {identifier} o no esperaba esto? Elija «Cancelar». No se compartirá nada.',
  'login.over_title': 'Este inicio de sesión no es válido',
  'login.over_text':
    'Los inicios de sesión sirven una vez, poco tiempo y solo en el navegador en que empezaron. Empiece de nuevo en su aplicación.',
  'login.bad_title': 'La aplicación no puede iniciar su sesión',

  // Requests that cannot be served
  'error.title': 'Hay un problema con esta solicitud',
  'error.not_found': 'La página no existe.',
  'error.method': 'La página no admite este tipo de solicitud.',
  'error.too_many': 'Demasiadas solicitudes desde su dirección.',
  'error.host': 'No se ofrece nada con este nombre de host.',
  'error.other': 'No se ha podido entender la solicitud.',
};
