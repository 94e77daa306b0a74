import type { Messages } from './messages.ts';

/** Brazilian Portuguese. */
export const ptBR: Messages = {
  // Header and footer of every page
  'brand.keeps_safe': '{application} usa o Valetkey para manter isto seguro.',
  'brand.kept_safe': 'Protegido pelo Valetkey.',
  'brand.support': 'Suporte',
  'brand.privacy': 'Privacidade',
  'brand.terms': 'Termos',
  'brand.back': 'Voltar para {application}',
  'brand.back_unnamed': 'Voltar para o aplicativo',

  // The page of a link
  'link.title': 'Conectar {provider}',
  'link.title_with_problems': 'Erro: conectar {provider}',
  'link.asks': '{application} pede acesso à sua conta em {provider}.',
  'link.account': 'Para',
  'link.address': 'Em',
  'link.scopes': 'O que {application} poderá fazer',
  'link.scopes_unknown': 'A próxima página mostra o que você compartilha.',
  'link.scopes_read': 'Ler',
  'link.scopes_write': 'Criar e alterar',
  'link.scopes_delete': 'Excluir',
  'link.can_delete': 'pode excluir dados',
  'link.continue': 'Continuar para {provider}',
  'link.connect': 'Conectar',
  'link.cancel': 'Cancelar',
  'link.consent_note':
    'Você entra em {provider}. Nunca vemos sua senha de {provider}. Você pode revogar o acesso em {provider} a qualquer momento.',
  'link.form_note': 'O que você digita é armazenado com criptografia e usado somente para acessar sua conta.',
  'link.key_page': 'Obter em {provider}',
  'link.new_tab': '(abre em uma nova aba)',
  'link.not_you':
    'Você não é {identifier} ou não esperava isto? Escolha “Cancelar” ou feche esta página. Nada será compartilhado.',
  'link.minutes_left': {
    one: 'Este link funciona por mais {count} minuto.',
    many: 'Este link funciona por mais {count} de minutos.',
    other: 'Este link funciona por mais {count} minutos.',
  },

  // Fields and what is wrong with them
  'field.optional': '(opcional)',
  'field.show': 'Mostrar',
  'field.hide': 'Ocultar',
  'field.paste': 'Colar',
  'field.choose': 'Escolher',
  'problem.summary': {
    one: 'Corrija o seguinte:',
    many: 'Corrija estes {count} de campos:',
    other: 'Corrija estes {count} campos:',
  },
  'problem.required': '{field}: preenchimento obrigatório.',
  'problem.format': '{field}: o formato é inválido.',
  'problem.choice': '{field}: não é uma das opções.',
  'problem.too_long': '{field}: o valor é longo demais.',
  'problem.control': '{field}: o valor contém caracteres invisíveis. Copie novamente.',
  'problem.address': '{field}: o endereço não é permitido.',
  'problem.not_accepted': '{provider} não aceitou este dado: {field}. Verifique se você copiou tudo.',

  // The token in the address of a page
  'token.title': 'Concluir a conexão com {provider}',
  'token.heading': 'Falta uma etapa',
  'token.text':
    '{provider} colocou seu token no fim do endereço desta página. Se a página não continuar sozinha, copie-o de lá para este campo.',
  'token.label': 'Token de {provider}',
  'token.hint': 'Tudo o que vem depois do caractere # no endereço desta página.',
  'token.note': 'Não compartilhe o endereço desta página: ele contém seu token.',
  'token.required': 'Preencha o campo abaixo.',

  // Results
  'connected.title': 'Conectado',
  'connected.text': 'A conta está conectada. Você pode fechar esta página.',
  'waiting.title': 'Mais uma etapa',
  'waiting.text': 'Volte para {application} para concluir.',
  'waiting.text_unnamed': 'Volte para o aplicativo que enviou você até aqui para concluir.',
  'used.title': 'Já utilizado',
  'used.text': 'Este link já foi utilizado. Você pode fechar esta página.',
  'expired.title': 'Este link expirou',
  'expired.text': 'Os links funcionam por pouco tempo. Peça um novo onde você recebeu este.',
  'stray.title': 'Este login expirou',
  'stray.text': 'Abra seu link novamente neste navegador. Nada foi compartilhado.',
  'stale.title': 'Abra o link novamente',
  'stale.text':
    'A página ficou aberta por muito tempo ou este navegador não guarda cookies. Os cookies são necessários para trazer você de volta com segurança.',
  'refused.title': 'Não conectado',
  'refused.text': 'Você recusou, ou uma política da sua organização em {provider} não permite. Nada foi compartilhado.',
  'fault.title': 'Algo deu errado',
  'fault.text': 'A conta não foi conectada. Tente novamente em instantes.',
  'fault.unreachable': 'Não foi possível acessar {provider}. Nada foi armazenado. Tente novamente em instantes.',
  'result.try_again': 'Tentar novamente',
  'result.reference': 'Referência para o suporte:',

  // The page on which a user lets an application use their accounts
  'access.title': 'Permitir acesso?',
  'access.unnamed': 'Um aplicativo sem nome',
  'access.asks': '{client} pede acesso às suas contas.',
  'access.account': 'Conectado como',
  'access.client': 'Aplicativo',
  'access.published_by': 'Publicado por {host}',
  'access.registered': 'Registrado pelo seu administrador',
  'access.unverified': 'Registrou a si mesmo. O nome não foi verificado.',
  'access.returns_to': 'Retorna para',
  'access.local_warning':
    'Um programa neste computador terá acesso, e o nome dele não pode ser verificado. Permita somente se você mesmo acabou de iniciar este login.',
  'access.scopes': 'O que ele poderá fazer',
  'access.see_tools': 'Ver quais ferramentas existem para {providers}',
  'access.see_own_tools': 'Ver quais ferramentas existem para suas contas',
  'access.use_tools': 'Usar essas ferramentas com suas contas: ler, criar, alterar e excluir dados nelas',
  'access.allow': 'Permitir',
  'access.cancel': 'Cancelar',
  'access.not_you': 'Você não é {identifier} ou não esperava isto? Escolha “Cancelar”. Nada será compartilhado.',
  'login.over_title': 'Este login não é válido',
  'login.over_text':
    'Logins funcionam uma vez, por pouco tempo e somente no navegador em que começaram. Comece de novo no seu aplicativo.',
  'login.bad_title': 'O aplicativo não consegue fazer seu login',

  // Requests that cannot be served
  'error.title': 'Há algo errado com esta solicitação',
  'error.not_found': 'A página não existe.',
  'error.method': 'A página não aceita esse tipo de solicitação.',
  'error.too_many': 'Solicitações demais do seu endereço.',
  'error.host': 'Nada é oferecido com este nome de host.',
  'error.other': 'Não foi possível entender a solicitação.',
};
