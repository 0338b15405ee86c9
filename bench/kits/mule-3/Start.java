import org.mule.api.MuleContext;
import org.mule.config.spring.SpringXmlConfigurationBuilder;
import org.mule.context.DefaultMuleContextFactory;

/**
 * Starts Mule, which refuses any Java but 6 and 7: java Start FILE. Its own program never ends when it is told to.
 */
public class Start {
    public static void main(String[] arguments) throws Exception {
        System.setProperty("java.version", "1.7.0_80");
        MuleContext context = new DefaultMuleContextFactory()
            .createMuleContext(new SpringXmlConfigurationBuilder(arguments[0]));
        context.start();
        Thread.currentThread().join();
    }
}
