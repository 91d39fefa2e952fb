import type { Catalogue } from './catalogue.ts';

/** Arabic counts in six forms; these are the ones a length can take. */
const characters = (n: number): string => {
  switch (new Intl.PluralRules('ar').select(n)) {
    case 'one':
      return 'حرف واحد';
    case 'two':
      return 'حرفين';
    case 'few':
      return `${n} أحرف`;
    case 'many':
      return `${n} حرفًا`;
    default:
      return `${n} حرف`;
  }
};

const ar: Catalogue = {
  dir: 'rtl',

  loading: 'جارٍ التحميل',
  language: 'اللغة',
  back: 'رجوع',
  tryAgain: 'حاول مرة أخرى',
  startAgain: 'ابدأ من جديد',
  optional: '(اختياري)',
  showPassword: 'إظهار كلمة المرور',
  hidePassword: 'إخفاء كلمة المرور',
  problemsTitle: 'يرجى مراجعة ما يلي',
  returnTo: (site) => `العودة إلى ${site}`,
  thisSite: 'هذا الموقع',

  email: 'البريد الإلكتروني',
  password: 'كلمة المرور',
  newPassword: 'كلمة المرور الجديدة',
  choosePassword: 'كلمة المرور',
  passwordLength: (n) => `${characters(n)} على الأقل. بضع كلمات لا رابط بينها خيار جيد.`,
  firstName: 'الاسم الأول',
  lastName: 'اسم العائلة',
  nickname: 'اللقب',

  signInTitle: (site) => `تسجيل الدخول إلى ${site}`,
  signIn: 'تسجيل الدخول',
  forgot: 'هل نسيت كلمة المرور؟',
  noAccount: 'زائر جديد؟',
  createAccount: 'إنشاء حساب',

  ownerSignInTitle: (site) => `تسجيل الدخول لإدارة ${site}`,
  ownerSignInText: 'للمالكين والمحررين.',

  signUpTitle: 'إنشاء حسابك',
  signUpText: (site) => `حساب واحد لكل ما في ${site}.`,
  signUp: 'إنشاء الحساب',
  haveAccount: 'لديك حساب؟',

  verifyTitle: 'تحقق من بريدك',
  codeSentTo: (where) => `أرسلنا رمزًا من 6 أرقام إلى \u2068${where}\u2069. اكتبه أو الصقه هنا.`,
  codeDigits: (n) => `رمز من ${n} أرقام`,
  verify: 'تحقق',
  resend: 'إرسال رمز جديد',
  resendIn: (time) => `يمكنك طلب رمز جديد بعد \u2068${time}\u2069`,
  resent: 'رمز جديد في الطريق إليك.',
  spamHint: 'لم يصل شيء؟ انظر في مجلد الرسائل غير المرغوب فيها أيضًا.',

  approvalTitle: 'أوشكت على الانتهاء',
  approvalText: (site) => `أُنشئ حسابك. يوافق القائمون على ${site} على كل عضو جديد، وبعدها يمكنك تسجيل الدخول.`,
  approvalMail: (where) => `حسابك: \u2068${where}\u2069`,

  approveTitle: (name, site) => `${name} يطلب الانضمام إلى ${site}`,
  approveSince: (date) => `أُنشئ الحساب في ${date}`,
  approveUnproven: 'لم يتم تأكيد هذا العنوان بعد.',
  approve: 'موافقة',
  decline: 'رفض',
  declineTitle: (name) => `هل تريد رفض ${name}؟`,
  declineText: 'سيُبلَّغ بذلك ولن يتمكن من تسجيل الدخول ما لم تغيّر رأيك لاحقًا.',
  approvedTitle: (name) => `يمكن لـ ${name} تسجيل الدخول الآن`,
  declinedTitle: (name) => `تم رفض ${name}`,
  approveTold: 'ستصله رسالة بذلك. يمكنك إغلاق هذه الصفحة.',
  approveGoneTitle: 'لم يعد هناك ما يُقرَّر',
  approveGoneText: 'تمت الإجابة عن الطلب، أو أن الرابط قديم جدًا، أو أنه ليس لك.',

  missingTitle: 'بعض التفاصيل الإضافية',
  missingText: (site) => `يحتاج ${site} إليها قبل المتابعة.`,
  save: 'حفظ ومتابعة',

  recoverTitle: 'إعادة تعيين كلمة المرور',
  recoverText: 'أدخل عنوان حسابك، وسنرسل إليك رابطًا لاختيار كلمة مرور جديدة.',
  recover: 'إرسال الرابط',
  recoverSentTitle: 'تحقق من بريدك',
  recoverSentText: (where) =>
    `إن كان هناك حساب للعنوان \u2068${where}\u2069 فالرابط في الطريق. يعمل مرة واحدة ولوقت قصير.`,
  resentLink: 'أُرسل مرة أخرى.',
  recoverAgain: 'إرسال مرة أخرى',
  backToSignIn: 'العودة إلى تسجيل الدخول',

  newPasswordTitle: 'اختر كلمة مرور جديدة',
  ownerSetupTitle: 'أهلًا بك. اختر كلمة مرورك',
  ownerFirstTitle: 'أهلًا بك. اختر بيانات دخولك',
  ownerSetupText: (site) => `لقد دُعيت إلى إدارة ${site}. ستسجّل الدخول بكلمة المرور هذه.`,
  passwordFor: (account) => `للحساب \u2068${account}\u2069`,
  savePassword: 'حفظ كلمة المرور',

  signOutTitle: (site) => `تسجيل الخروج من ${site}؟`,
  signedInAs: (name) => `أنت مسجّل الدخول باسم ${name}.`,
  signOutText: 'يمكنك تسجيل الدخول مجددًا في أي وقت.',
  signOut: 'تسجيل الخروج',
  stay: 'البقاء',

  redirecting: 'جارٍ إعادتك',
  redirectStuck: 'لا شيء يحدث؟ تابع يدويًا',
  redirectRefused: 'لا يمكن فتح عنوان العودة بأمان.',
  messageSent: 'تم',
  messageSentText: 'يمكنك إغلاق هذه النافذة.',

  done: {
    SIGNED_IN: 'تم تسجيل الدخول',
    SIGNED_OUT: 'تم تسجيل الخروج',
    PASSWORD_CHANGED: 'تم تغيير كلمة المرور',
    OWNER_READY: 'كل شيء جاهز',
  },
  doneText: {
    SIGNED_IN: 'يمكنك إغلاق هذه الصفحة.',
    SIGNED_OUT: 'يمكنك إغلاق هذه الصفحة.',
    PASSWORD_CHANGED: 'استخدم كلمة المرور الجديدة من الآن. تم تسجيل خروجك من كل مكان آخر.',
    OWNER_READY: 'حُفظت كلمة مرورك وتم تسجيل دخولك.',
  },
  goToSite: (site) => `الذهاب إلى ${site}`,

  failedTitle: 'لا يمكن المتابعة',
  expiredTitle: 'انتهت صلاحية هذه الصفحة',
  expiredText: 'حفاظًا على أمانك، تعمل صفحات تسجيل الدخول لوقت قصير. ابدأ من جديد، فالأمر لا يستغرق طويلًا.',
  inviteTitle: 'الدعوة غير موجودة',
  inviteText: 'افتح رابط الدعوة مرة أخرى. إن كان قد استُخدم فسجّل الدخول مباشرة.',
  offlineTitle: 'لا يوجد اتصال',
  offlineText: 'لم يرد الخادم. لم يضِع شيء: تحقق من الاتصال وحاول مرة أخرى.',
  brokenTitle: 'حدث خطأ ما',
  brokenText: 'الخطأ من جانبنا. لم يضِع شيء؛ يرجى المحاولة بعد لحظات.',
  requestId: (id) => `المرجع: \u2068${id}\u2069`,
  unknownPageTitle: 'لا شيء هنا',
  unknownPageText: 'هذا العنوان لا يقود إلى شيء. ربما أردت تسجيل الدخول.',

  problem: {
    required: 'يرجى ملء هذا الحقل.',
    credentials: 'البريد الإلكتروني أو كلمة المرور غير صحيحة.',
    email: 'لا يبدو هذا عنوان بريد إلكتروني.',
    emailTaken: 'هناك حساب بهذا العنوان. سجّل الدخول أو أعد تعيين كلمة المرور.',
    passwordShort: (n) => `استخدم ${characters(n)} على الأقل.`,
    passwordLong: 'كلمة المرور هذه طويلة جدًا.',
    passwordCommon: 'كلمة المرور هذه معروفة جدًا. اختر غيرها.',
    passwordReset: 'يجب إعادة تعيين كلمة المرور أولًا.',
    code: 'الرمز خاطئ أو انتهت صلاحيته.',
    tooMany: 'محاولات كثيرة. انتظر قليلًا ثم حاول مرة أخرى.',
    blocked: 'لا يمكن لهذا الحساب تسجيل الدخول. اسأل القائمين على الموقع.',
    link: 'انتهت صلاحية هذا الرابط أو استُخدم من قبل.',
    captcha: 'لم نتمكن من التحقق من أنك إنسان. حاول مرة أخرى.',
    busy: 'الخدمة مشغولة. حاول مرة أخرى بعد لحظات.',
    movedOn: 'تم التقدم في نافذة أخرى. هذه هي الحالة الآن.',
    expired: 'انتهت صلاحية تسجيل الدخول هذا أو اكتمل. ابدأ من جديد.',
    returnRefused: 'عنوان العودة غير مسجل لهذا التطبيق.',
    client: 'التطبيق الذي أرسلك إلى هنا غير معروف.',
    address: 'العنوان الذي أوصلك إلى هنا غير مكتمل. عد إلى الموقع وحاول مجددًا من هناك.',
    site: 'لا يوجد موقع على هذا العنوان.',
  },
};

export default ar;
