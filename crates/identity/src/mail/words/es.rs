//! Spanish.

use crate::mail::words::{Language, Words};

pub(super) const TEXT: Language = Language {
    tag: "es",
    is_right_to_left: false,
    copy_link: "Si el botón no funciona, abre esta dirección:",
    footer: "Enviado por {site}",
    verification: Words {
        subject: "{code} es tu código para {site}",
        title: "Tu código",
        body: "Escribe este código para confirmar tu dirección en {site}.",
        action: "",
        note: "Sirve una sola vez, durante diez minutos. Si no lo has pedido, puedes ignorar este mensaje.",
    },
    recovery: Words {
        subject: "Una contraseña nueva para {site}",
        title: "Elige una contraseña nueva",
        body: "Alguien ha pedido una contraseña nueva para tu cuenta en {site}.",
        action: "Elegir una contraseña nueva",
        note: "El enlace sirve una sola vez, durante una hora. Si no has sido tú, puedes ignorar este mensaje: no ha cambiado nada.",
    },
    activation: Words {
        subject: "Tu cuenta en {site}",
        title: "Activa tu cuenta",
        body: "{site} tiene una cuenta para ti. Elige una contraseña y podrás iniciar sesión.",
        action: "Elegir una contraseña",
        note: "El enlace sirve una sola vez, durante una hora. Si no conoces {site}, puedes ignorar este mensaje.",
    },
    new_device: Words {
        subject: "Nuevo inicio de sesión en {site}",
        title: "Nuevo inicio de sesión",
        body: "Se ha iniciado sesión con tu cuenta en un navegador que no conocíamos.\n{device}\n{time}",
        action: "No he sido yo",
        note: "Si has sido tú, no tienes que hacer nada. Si no, elige una contraseña nueva: así se cierran todas las sesiones.",
    },
    password_changed: Words {
        subject: "Se ha cambiado tu contraseña de {site}",
        title: "Se ha cambiado tu contraseña",
        body: "Se ha cambiado la contraseña de tu cuenta en {site}.\n{time}",
        action: "No he sido yo",
        note: "Si has sido tú, no tienes que hacer nada. Si no, elige una contraseña nueva: así se cierran todas las sesiones.",
    },
    password_dropped: Words {
        subject: "Se ha eliminado tu contraseña de {site}",
        title: "Se ha eliminado tu contraseña",
        body: "{site} te ha iniciado la sesión por su cuenta. Nadie había confirmado antes esta dirección; por eso ya no vale la contraseña de la cuenta, que pudo haber puesto otra persona.\n{time}",
        action: "Elegir una contraseña",
        note: "Si entras a través de {site}, no tienes que hacer nada.",
    },
    email_verified: Words {
        subject: "Tu dirección para {site} está confirmada",
        title: "Tu dirección está confirmada",
        body: "{email} está confirmada como dirección de tu cuenta en {site}.\n{time}",
        action: "No he sido yo",
        note: "Si has sido tú, no tienes que hacer nada. Si no, elige una contraseña nueva: así se cierran todas las sesiones.",
    },
    email_changed: Words {
        subject: "Se ha cambiado la dirección de tu cuenta en {site}",
        title: "Se ha cambiado tu dirección",
        body: "Tu cuenta en {site} pertenece ahora a {email}. Ya no se envían mensajes a la dirección en la que lees esto.\n{time}",
        action: "",
        note: "Si has sido tú, no tienes que hacer nada. Si no, avisa enseguida a quienes gestionan {site}: solo ellos pueden devolverte la cuenta.",
    },
    approval_request: Words {
        subject: "{name} quiere unirse a {site}",
        title: "Alguien quiere unirse",
        body: "{name} ({email}) ha creado una cuenta en {site} y espera tu respuesta.",
        action: "Ver la solicitud",
        note: "El enlace es solo para ti y sirve durante siete días. No reenvíes este mensaje.",
    },
    approved: Words {
        subject: "Te damos la bienvenida a {site}",
        title: "Ya puedes iniciar sesión",
        body: "Quienes gestionan {site} han aprobado tu cuenta.",
        action: "Iniciar sesión",
        note: "",
    },
    declined: Words {
        subject: "Tu cuenta en {site}",
        title: "Tu cuenta no ha sido aprobada",
        body: "Quienes gestionan {site} han decidido no aprobar tu cuenta.",
        action: "",
        note: "Si crees que es un error, pregúntales.",
    },
    webhook_disabled: Words {
        subject: "Los webhooks de {site} no se entregan",
        title: "Se ha desactivado un punto de conexión de webhooks",
        body: "Los eventos de {site} no se han podido entregar a {name} durante días, así que ya no se envía nada allí. Lo que ocurra mientras tanto se guarda hasta catorce días.\n{time}",
        action: "Iniciar sesión",
        note: "Cuando el punto de conexión vuelva a funcionar, reanúdalo: continuará donde estaba.",
    },
};
