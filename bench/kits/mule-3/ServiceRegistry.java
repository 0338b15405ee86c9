package javax.imageio.spi;

import java.util.Iterator;
import java.util.ServiceLoader;

/**
 * Takes the place of the JDK's class, which refuses since Java 9 to look up what has nothing to do with images.
 * Mule looks up its own services by it.
 */
public class ServiceRegistry {
    public static <T> Iterator<T> lookupProviders(Class<T> service) {
        return lookupProviders(service, Thread.currentThread().getContextClassLoader());
    }

    public static <T> Iterator<T> lookupProviders(Class<T> service, ClassLoader loader) {
        ServiceRegistry.class.getModule().addUses(service);
        return ServiceLoader.load(service, loader).iterator();
    }
}
